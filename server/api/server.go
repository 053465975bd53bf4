// Package api is the HTTP interface of the server:
//
//	request -> id, log, metrics -> key -> role -> rate -> openapi.yaml -> user of the key and field checks
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
	limits limits

	keepSecrets bool // see Options

	dev      bool
	log      *zap.Logger
	now      func() time.Time
	echo     *echo.Echo
	contract *contract
	owners   owners
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

// New returns a server. It fails if openapi.yaml lacks a route or a mount, a metric is
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
		limits: o.limits, keepSecrets: o.KeepSecrets, dev: o.Access.Dev, log: o.Logger, now: o.Now,
		echo: echo.New(), contract: contract,
		owners: owners{o.Memories.Reader, o.Turns.Ingester},
		keys:   newKeyring(o.Access.Keys, o.Access.KeyTTL, o.Now),
		rates:  newRates(o.Access.RateLimit, o.Access.RateBurst, o.Now), streams: newStreams(o.Events.Streams),
		failures:  newRates(float64(o.Access.Failures)/60, o.Access.Failures, o.Now),
		readiness: newReadiness(o.Checks, o.Now, o.Logger),
	}
	s.draining, s.drain = context.WithCancel(context.Background())
	s.refused = newRefused()
	metrics, scrape, err := s.instrument(o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("registering the request metrics: %w", err)
	}
	s.documents = documents(scrape, protocolDocumentsOf(o.Mounts))
	s.echo.HTTPErrorHandler = func(err error, c echo.Context) { s.fail(c, err) }
	s.echo.Use(abort, identify, traced, s.access, metrics)
	if len(o.Origins) > 0 {
		s.echo.Use(crossOrigin(o.Origins))
	}
	s.echo.Use(s.problems, s.recoverPanics())
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
	for _, m := range o.Mounts {
		if err := s.addMount(m); err != nil {
			return nil, err
		}
	}
	if o.Documentation != nil { // pages for people, which openapi.yaml is not about
		s.echo.GET("/docs", echo.WrapHandler(o.Documentation))
		s.echo.GET("/docs/*", echo.WrapHandler(o.Documentation))
	}
	if o.Console != nil {
		s.addConsole(o.Console)
	}
	return s, nil
}

// features wires the handlers of each feature to their parts.
func (s *Server) features(o Options, scrape http.Handler) []feature {
	waiter := waiter{timeout: o.Wait, draining: s.draining}
	slots := newSlots(o.MaxInflight)
	quotas := newQuotas(o.Quotas, s.now)
	return []feature{
		turnHandlers{o.Turns, waiter, quotas},
		conversationHandlers{o.Conversations},
		consolidationHandlers{o.Consolidations, o.Conversations.Reader, waiter},
		memoryHandlers{o.Memories, quotas},
		relatedHandlers{o.Related, slots},
		factHandlers{o.Facts, s.now, quotas},
		instructionHandlers{o.Instructions, quotas},
		skillHandlers{o.Skills},
		memoryToolHandlers{o.MemoryTool, quotas},
		candidateHandlers{o.Candidates, quotas},
		recallHandlers{o.Recall, slots, s.now},
		profileHandlers{o.Recall, slots, s.now},
		contextHandlers{RecallParts: o.Recall, slots: slots, now: s.now, contexts: assembly.Service{
			Instructor: o.Instructions.Publisher, Facts: o.Facts.Reader, Recaller: o.Recall.Recaller,
			Sessions: o.Conversations.Sessions, Condenser: o.Condenser,
			Timeout: o.Recall.Timeout, Counts: assembly.NewCounts(countsCached), Now: s.now, ZoneOf: o.Recall.ZoneOf,
		}},
		reflectHandlers{o.Reflector},
		forgetHandlers{o.Forgetter, o.Memories.Reader, s.now},
		forgetNextHandlers{counter: o.Forgetter, users: o.Users, schedule: o.State.Schedule, now: s.now},
		compressHandlers{o.Compressor},
		eraseHandlers{o.Eraser},
		keyHandlers{},
		userHandlers{o.Users, o.Zones},
		statsHandlers{o.Stats, newRetention(o.Stats.Retention, s.now)},
		exchangeHandlers{o.Exchange, s, quotas},
		eventHandlers{o.Events, s},
		webhookHandlers{o.Webhooks, quotas},
		jobHandlers{o.Jobs},
		issuedKeyHandlers{o.Keys, s.now, s.log},
		stateHandlers{StateParts: o.State, readiness: s.readiness, embedding: o.Stats.Embedding, now: s.now},
		publicHandlers{
			readiness: s.readiness, scrape: scrape, documents: protocolDocumentsOf(o.Mounts), apart: o.Metrics.Apart,
		},
	}
}

// Drain answers the requests that wait for a turn with the turn's present
// state, and ends the event streams. Call it before shutting down.
func (s *Server) Drain() { s.drain() }

// Documents serves /metrics and the documents of OpenAPI at an address of their own.
func (s *Server) Documents() http.Handler { return s.documents }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }
