package api

import (
	"errors"
	"net/http"

	"github.com/labstack/echo-contrib/echoprometheus"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// instrument returns a middleware that counts and times requests by route
// pattern, method and status (hippocampus_http_...), and the handler that serves
// the metrics. No label holds anything that a client can choose freely.
func instrument(m Metrics) (echo.MiddlewareFunc, http.Handler, error) {
	if m.Registerer == nil {
		m.Registerer = prometheus.NewRegistry()
	}
	if m.Gatherer == nil {
		var ok bool
		if m.Gatherer, ok = m.Registerer.(prometheus.Gatherer); !ok {
			return nil, nil, errors.New("a registerer that does not gather needs a separate gatherer")
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
