package frame

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"hippocampus/internal/tracing"
)

// traced names the span of a request by its route. A request that a mount makes gets a span of its own.
func traced(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx := c.Request().Context()
		current := trace.SpanFromContext(ctx)
		if !current.IsRecording() {
			return next(c)
		}
		route := pattern(c)
		name := method(c.Request()) + " " + route
		if ctx.Value(admittedID{}) != nil {
			ctx, current = tracing.Start(ctx, name)
			defer current.End()
			c.SetRequest(c.Request().WithContext(ctx))
		}
		current.SetName(name)
		current.SetAttributes(attribute.String("http.route", route),
			attribute.String("hippocampus.request.id", c.Response().Header().Get(echo.HeaderXRequestID)))
		return next(c)
	}
}

// newRefused counts requests that a bound refused. The bounds of the frame, and further ones, are shown from the start.
func newRefused(further []string) *prometheus.CounterVec {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hippocampus_requests_refused_total",
		Help: "Requests that were refused because of a bound, by the setting of the bound.",
	}, []string{"limit"})
	for _, limit := range append([]string{failedAuth, "api.rate_limit"}, further...) {
		refused.WithLabelValues(limit)
	}
	return refused
}

// sizes are the buckets of bodies, in bytes.
var sizes = []float64{1 << 10, 2 << 10, 5 << 10, 10 << 10, 100 << 10, 500 << 10, 1 << 20, 5 << 20, 10 << 20}

// requestMetrics counts and measures requests by route pattern, method and status. No label holds anything that a
// client can choose freely.
type requestMetrics struct {
	count              *prometheus.CounterVec
	took, asked, given *prometheus.HistogramVec
}

func newRequestMetrics() *requestMetrics {
	labels := []string{"code", "method", "url"}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	return &requestMetrics{
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hippocampus_http_requests_total", Help: "Requests by route, method and status.",
		}, labels),
		took: histogram("hippocampus_http_request_duration_seconds",
			"Duration of requests by route, method and status.", prometheus.DefBuckets),
		asked: histogram("hippocampus_http_request_size_bytes", "Size of the bodies of requests.", sizes),
		given: histogram("hippocampus_http_response_size_bytes", "Size of the bodies of responses.", sizes),
	}
}

// observe counts a request that was answered. The duration of a sampled request has its trace as an exemplar.
func (m *requestMetrics) observe(c echo.Context, seconds float64) {
	labels := []string{strconv.Itoa(c.Response().Status), method(c.Request()), pattern(c)}
	m.count.WithLabelValues(labels...).Inc()
	tracing.Observe(c.Request().Context(), m.took.WithLabelValues(labels...), seconds)
	m.asked.WithLabelValues(labels...).Observe(float64(max(0, c.Request().ContentLength)))
	m.given.WithLabelValues(labels...).Observe(float64(c.Response().Size))
}

// instrument registers the metrics of requests and further ones, and returns the middleware that measures requests and
// the handler that serves the metrics.
func (s *Server) instrument(m Metrics) (echo.MiddlewareFunc, http.Handler, error) {
	if m.Registerer == nil {
		m.Registerer = prometheus.NewRegistry()
	}
	if m.Gatherer == nil {
		var ok bool
		if m.Gatherer, ok = m.Registerer.(prometheus.Gatherer); !ok {
			return nil, nil, errors.New("a registerer that does not gather needs a separate gatherer")
		}
	}
	requests := newRequestMetrics()
	for _, collector := range []prometheus.Collector{
		s.refused, requests.count, requests.took, requests.asked, requests.given,
	} {
		if err := m.Registerer.Register(collector); err != nil {
			return nil, nil, err
		}
	}
	measure := func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			start := s.now()
			err := next(c)
			requests.observe(c, s.now().Sub(start).Seconds())
			return err
		}
	}
	return measure, promhttp.HandlerFor(m.Gatherer, promhttp.HandlerOpts{EnableOpenMetrics: true}), nil
}
