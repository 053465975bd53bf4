package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/labstack/echo-contrib/echoprometheus"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hippocampus/internal/memory"
)

// The keys of what a request's context carries to the access log.
const (
	callerKey = "caller" // memory.Key
	errorKey  = "error"  // error
)

const maxRequestID = 128 // bytes

// identify gives every request an id: the client's X-Request-Id if it has 1 to
// 128 printable ASCII characters, else a new one.
func identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !isRequestID(id) {
			id = memory.NewID()
		}
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		return next(c)
	}
}

func isRequestID(id string) bool {
	for _, b := range []byte(id) {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxRequestID
}

// access logs one line per request, without contents, queries or user ids: it
// names the route by its pattern.
func (s *Server) access(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := s.now()
		err := next(c)
		status := c.Response().Status
		entry := s.log.Check(logLevel(c.Path(), status), "request")
		if entry == nil {
			return err
		}
		fields := []zap.Field{
			zap.String("method", method(c.Request())),
			zap.String("route", pattern(c)),
			zap.Int("status", status),
			zap.Duration("duration", s.now().Sub(start)),
			zap.Int64("bytes", c.Response().Size),
			zap.String("request_id", c.Response().Header().Get(echo.HeaderXRequestID)),
		}
		if key, ok := c.Get(callerKey).(memory.Key); ok {
			fields = append(fields, zap.String("app", key.AppID), zap.String("key", key.ID))
		}
		if cause, ok := c.Get(errorKey).(error); ok && status >= http.StatusInternalServerError {
			fields = append(fields, zap.Error(cause))
		}
		entry.Write(fields...)
		return err
	}
}

// logLevel is the level of a request's line: low for probes, which are frequent.
func logLevel(path string, status int) zapcore.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return zapcore.ErrorLevel
	case slices.Contains([]string{"/healthz", "/readyz", "/metrics"}, path):
		return zapcore.DebugLevel
	}
	return zapcore.InfoLevel
}

// pattern is the pattern of a request's route.
func pattern(c echo.Context) string {
	if path := c.Path(); path != "" {
		return path
	}
	return "unknown"
}

// method is the method of a request, or "other" for an uncommon one.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return r.Method
	}
	return "other"
}

// recoverPanics turns a handler's panic into an internal error.
func (s *Server) recoverPanics() echo.MiddlewareFunc {
	return middleware.RecoverWithConfig(middleware.RecoverConfig{
		DisableStackAll: true,
		LogErrorFunc: func(c echo.Context, err error, stack []byte) error {
			s.log.Error("panic in a handler", zap.String("route", pattern(c)),
				zap.String("request_id", c.Response().Header().Get(echo.HeaderXRequestID)),
				zap.Error(err), zap.ByteString("stack", stack))
			return memory.Errorf(memory.KindInternal, "panic in a handler: %s", fmt.Sprint(err))
		},
	})
}

// newRefused counts requests that a bound refused. The bounds that all servers have are shown from the start.
func newRefused() *prometheus.CounterVec {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hippocampus_requests_refused_total",
		Help: "Requests that were refused because of a bound, by the setting of the bound.",
	}, []string{"limit"})
	for _, limit := range []string{failedAuth, "api.max_inflight", "api.rate_limit", "jobs.max_lag"} {
		refused.WithLabelValues(limit)
	}
	return refused
}

// instrument returns a middleware that counts and times requests by route
// pattern, method and status (hippocampus_http_...), and the handler that serves
// the metrics. It registers own also. No label holds anything that a client can choose freely.
func instrument(m Metrics, own ...prometheus.Collector) (echo.MiddlewareFunc, http.Handler, error) {
	if m.Registerer == nil {
		m.Registerer = prometheus.NewRegistry()
	}
	if m.Gatherer == nil {
		var ok bool
		if m.Gatherer, ok = m.Registerer.(prometheus.Gatherer); !ok {
			return nil, nil, errors.New("a registerer that does not gather needs a separate gatherer")
		}
	}
	for _, collector := range own {
		if err := m.Registerer.Register(collector); err != nil {
			return nil, nil, err
		}
	}
	middleware, err := echoprometheus.MiddlewareConfig{
		Namespace:  "hippocampus",
		Subsystem:  "http",
		Registerer: m.Registerer,
		LabelFuncs: map[string]echoprometheus.LabelValueFunc{
			"host":   func(echo.Context, error) string { return "" },
			"method": func(c echo.Context, _ error) string { return method(c.Request()) },
			"url":    func(c echo.Context, _ error) string { return pattern(c) },
		},
		StatusCodeResolver: func(c echo.Context, _ error) int { return c.Response().Status },
	}.ToMiddleware()
	return middleware, promhttp.HandlerFor(m.Gatherer, promhttp.HandlerOpts{}), err
}
