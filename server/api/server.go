// Package api is the HTTP interface of the server:
//
//	request -> id, log, metrics -> key -> role -> rate -> openapi.yaml and field checks
//	        -> handler -> ingest | recall | database -> JSON
//	any error -> one table by memory.Kind -> RFC 9457 problem document
//
// openapi.yaml is written by hand and is the contract: the server serves it and
// checks every request against it before a handler runs. Handlers translate
// between JSON and the domain types and contain no rules of their own. Each
// feature has one file with its parts, routes and handlers.
package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hippocampus/assembly"
)

// Server answers the requests of the API. It is an http.Handler, safe for
// concurrent use, and owns nothing that needs closing.
type Server struct {
	limits   limits
	dev      bool
	log      *zap.Logger
	now      func() time.Time
	echo     *echo.Echo
	contract *contract
	keys     *keyring
	rates    *rates
	failures *rates   // of authentication, by address
	streams  *streams // of events

	readiness *readiness
	refused   *prometheus.CounterVec // requests, by the bound that refused them
	documents http.Handler           // see Documents
	draining  context.Context        // ends when the server shuts down
	drain     context.CancelFunc
}

// New returns a server. It fails if openapi.yaml lacks a route, a metric is
// already registered, or the options contradict each other.
func New(o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	contract, err := loadContract()
	if err != nil {
		return nil, err
	}
	s := &Server{
		limits: o.limits, dev: o.Access.Dev, log: o.Logger, now: o.Now, echo: echo.New(), contract: contract,
		keys:  newKeyring(o.Access.Keys, o.Access.KeyTTL, o.Now),
		rates: newRates(o.Access.RateLimit, o.Access.RateBurst, o.Now), streams: newStreams(o.Events.Streams),
		failures:  newRates(float64(o.Access.Failures)/60, o.Access.Failures, o.Now),
		readiness: newReadiness(o.Checks, o.Now, o.Logger),
	}
	s.draining, s.drain = context.WithCancel(context.Background())
	s.refused = newRefused()
	metrics, scrape, err := instrument(o.Metrics, s.refused)
	if err != nil {
		return nil, fmt.Errorf("registering the request metrics: %w", err)
	}
	s.documents = documents(scrape)
	s.echo.HTTPErrorHandler = func(err error, c echo.Context) { s.fail(c, err) }
	s.echo.Use(abort, identify, s.access, metrics, s.problems, s.recoverPanics())
	routes := &routes{limits: o.limits}
	for _, f := range s.features(o, scrape) {
		f.register(routes)
	}
	for _, rt := range routes.list {
		op, err := contract.operation(rt.method, rt.path)
		if err != nil {
			return nil, err
		}
		s.echo.Add(rt.method, rt.path, s.serve(rt, op))
	}
	return s, nil
}

// features wires the handlers of each feature to their parts.
func (s *Server) features(o Options, scrape http.Handler) []feature {
	waiter := waiter{timeout: o.Wait, draining: s.draining}
	slots := newSlots(o.MaxInflight)
	return []feature{
		turnHandlers{o.Turns, waiter},
		conversationHandlers{o.Conversations},
		consolidationHandlers{o.Consolidations, o.Conversations.Reader, waiter},
		memoryHandlers{o.Memories},
		relatedHandlers{o.Related},
		factHandlers{o.Facts, s.now},
		instructionHandlers{o.Instructions},
		skillHandlers{o.Skills},
		candidateHandlers{o.Candidates},
		recallHandlers{o.Recall, slots, s.now},
		contextHandlers{o.Recall, slots, s.now, assembly.Service{
			Instructor: o.Instructions.Publisher, Facts: o.Facts.Reader, Recaller: o.Recall.Recaller,
			Sessions: o.Conversations.Sessions, Condenser: o.Condenser,
			Counts: assembly.NewCounts(countsCached), Now: s.now,
		}},
		reflectHandlers{o.Reflector},
		forgetHandlers{o.Forgetter, s.now},
		compressHandlers{o.Compressor},
		eraseHandlers{o.Eraser},
		statsHandlers{o.Stats, newRetention(o.Stats.Retention, s.now)},
		exchangeHandlers{o.Exchange, s},
		eventHandlers{o.Events, s},
		webhookHandlers{o.Webhooks},
		jobHandlers{o.Jobs},
		publicHandlers{s.readiness, scrape, o.Metrics.Apart},
	}
}

// Drain answers the requests that wait for a turn with the turn's present
// state, and ends the event streams. Call it before shutting down.
func (s *Server) Drain() { s.drain() }

// Documents serves /metrics and /openapi.yaml at an address of their own.
func (s *Server) Documents() http.Handler { return s.documents }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }
