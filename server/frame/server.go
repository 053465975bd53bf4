package frame

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// Server admits and checks requests, runs the handlers of their routes and writes the answers. It is an
// http.Handler, safe for concurrent use, and owns nothing that needs closing.
type Server struct {
	limits      Limits
	keepSecrets bool
	dev         bool
	log         *zap.Logger
	now         func() time.Time
	echo        *echo.Echo
	contract    *Contract
	keys        *keyring
	rates       *rates
	failures    *rates // of authentication, by address
	proxies     []netip.Prefix
	sameOrigin  *http.CrossOriginProtection // with dev, where a request needs no key

	confine func(rt Route, op *Operation) Confinement
	instead func(path string, isRoute func(path string) bool) string

	refused  *prometheus.CounterVec // requests, by the bound that refused them
	scrape   http.Handler           // see Scrape
	draining context.Context        // ends when the server shuts down
	drain    context.CancelFunc
}

// Limits bounds the size and the duration of requests.
type Limits struct {
	Body   int64         // bytes of a body; 0: 1 MiB
	Batch  int64         // bytes of the body of a batch; 0: 16 MiB
	Work   time.Duration // of any request except streams; 0: 2 min
	Stream time.Duration // how long a stream may transfer nothing; 0: 1 min
}

// WithDefaults returns the limits with every default filled in.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Body: cmp.Or(l.Body, 1<<20), Batch: cmp.Or(l.Batch, 16<<20),
		Work: cmp.Or(l.Work, 2*time.Minute), Stream: cmp.Or(l.Stream, time.Minute),
	}
}

// Drain answers the requests that wait with the present state, and ends the streams. Call it before shutting down.
func (s *Server) Drain() { s.drain() }

// Draining returns a context that ends when Drain is called.
func (s *Server) Draining() context.Context { return s.draining }

// Scrape returns the handler that serves the metrics.
func (s *Server) Scrape() http.Handler { return s.scrape }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }
