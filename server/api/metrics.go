package api

import (
	"errors"
	"net/http"

	"github.com/labstack/echo-contrib/echoprometheus"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// instrument counts and times requests by route pattern, method and status
// (hippocampus_http_...), and returns the handler that shows the metrics. No
// label holds anything that a client can choose freely.
func instrument(reg prometheus.Registerer, gatherer prometheus.Gatherer) (echo.MiddlewareFunc, http.Handler, error) {
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	if gatherer == nil {
		var ok bool
		if gatherer, ok = reg.(prometheus.Gatherer); !ok {
			return nil, nil, errors.New("a registerer that does not gather needs a gatherer beside it")
		}
	}
	middleware, err := echoprometheus.MiddlewareConfig{
		Namespace:  "hippocampus",
		Subsystem:  "http",
		Registerer: reg,
		LabelFuncs: map[string]echoprometheus.LabelValueFunc{
			"host":   func(echo.Context, error) string { return "" },
			"method": func(c echo.Context, _ error) string { return method(c.Request()) },
			"url":    func(c echo.Context, _ error) string { return pattern(c) },
		},
		StatusCodeResolver: func(c echo.Context, _ error) int { return c.Response().Status },
	}.ToMiddleware()
	return middleware, promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{}), err
}
