// Package frame has what all routes of the server have in common, and knows no single route:
//
//	request -> id, log, metrics -> key -> role -> rate -> contract -> user of the key -> handler -> JSON
//	any error -> one table by memory.Kind -> RFC 9457 problem document
//
// A handler gets a Request whose key, query and body are checked, and returns a value that becomes JSON. Lists are read
// page by page, streams are cut off when they stall, and requests that need much of the machine wait for a slot. The
// adapters of other protocols are mounts, which are admitted and bounded like routes.
package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// Options holds what a frame needs. Required are Contract, Logger and Now; the zero value of any other field
// selects the default in its comment.
type Options struct {
	Contract *Contract
	Access   Access
	Limits   Limits
	Origins  []string // whose pages may call the server in a browser; nil: only its own
	// KeepSecrets leaves secrets in the texts of requests.
	KeepSecrets bool
	Metrics     Metrics
	Bounds      []string // of the handlers; the metrics show from the start how many requests each has refused
	Logger      *zap.Logger
	Now         func() time.Time

	// Confine returns the confinement of keys of one user on a route. If it is nil or returns nil, such keys may not use
	// it.
	Confine func(rt Route, op *Operation) Confinement
	// Instead names what to use instead of a path that is no route, or returns "". Optional.
	Instead func(path string, isRoute func(path string) bool) string
}

// Access decides who may use the server, and how often.
type Access struct {
	Keys      KeyFinder     // nil only with Dev
	Dev       bool          // no keys: every request comes from an admin of the app DevApp
	KeyTTL    time.Duration // how long a key is cached, and so how long a revoked key may still work; 0: 5 s
	RateLimit float64       // requests per second and key; 0: unlimited
	Failures  int           // of authentication, per minute and address, and at once; 0: unlimited
	RateBurst int           // requests at once per key; 0: the number of two seconds

	Proxies []netip.Prefix // whose X-Forwarded-For names the address that Failures are counted for
}

// Metrics registers and serves metrics.
type Metrics struct {
	Registerer prometheus.Registerer // of the request metrics; nil: a new registry
	Gatherer   prometheus.Gatherer   // what is scraped; nil: Registerer, if it is also a Gatherer
	Apart      bool                  // the metrics and the documents of OpenAPI are served at another address alone
}

// New returns a frame without routes. It fails if a metric is already registered, or without keys.
func New(o Options) (*Server, error) {
	if o.Access.Keys == nil && !o.Access.Dev {
		return nil, errors.New("keys are required unless authentication is off")
	}
	s := &Server{
		limits: o.Limits.WithDefaults(), keepSecrets: o.KeepSecrets, dev: o.Access.Dev, log: o.Logger, now: o.Now,
		echo: echo.New(), contract: o.Contract, confine: o.Confine, instead: o.Instead,
		keys:     newKeyring(o.Access.Keys, cmp.Or(o.Access.KeyTTL, 5*time.Second), o.Now),
		rates:    newRates(o.Access.RateLimit, o.Access.RateBurst, o.Now),
		failures: newRates(float64(o.Access.Failures)/60, o.Access.Failures, o.Now),
		proxies:  o.Access.Proxies, sameOrigin: http.NewCrossOriginProtection(),
		refused: newRefused(o.Bounds),
	}
	for _, origin := range o.Origins {
		if err := s.sameOrigin.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("an origin: %w", err)
		}
	}
	s.draining, s.drain = context.WithCancel(context.Background())
	measure, scrape, err := s.instrument(o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("registering the request metrics: %w", err)
	}
	s.scrape = scrape
	s.echo.HTTPErrorHandler = func(err error, c echo.Context) { s.fail(c, err) }
	s.echo.Use(abort, identify, traced, s.access, measure)
	if len(o.Origins) > 0 {
		s.echo.Use(crossOrigin(o.Origins))
	}
	s.echo.Use(s.problems, s.recoverPanics())
	return s, nil
}
