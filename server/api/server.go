// Package api is the HTTP face of the server:
//
//	request -> id, log, metrics -> key -> role -> rate -> openapi.yaml and field checks
//	        -> handler -> ingest | recall | database -> JSON
//	any error -> one table by memory.Kind -> RFC 9457 problem document
//
// openapi.yaml is written by hand and is the contract: it is served, and every
// request is held to it before a handler runs. Handlers translate between JSON
// and the domain types and hold no rules of their own.
package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hippocampus/assembly"
	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/recall"
)

// Ingest takes writes; package ingest implements it.
type Ingest interface {
	// Accept makes a turn durable and queues it. Where the app already has a
	// turn with this client id it returns that one and fresh false.
	// KindConflict: that one has other content.
	Accept(ctx context.Context, turn memory.Turn) (stored memory.Turn, fresh bool, err error)
	// Await waits until a turn is processed or failed, or ctx ends: then it
	// returns the turn as it stands, or an error that wraps ctx's.
	Await(ctx context.Context, appID, turnID string) (ingest.Outcome, error)
	// Outcome finds a turn by its id, else by its client id.
	Outcome(ctx context.Context, appID, ref string) (ingest.Outcome, error)
	// Replay queues a turn again. KindConflict: it has been processed.
	Replay(ctx context.Context, appID, turnID string) (memory.Turn, error)

	Write(ctx context.Context, w ingest.Write) (ingest.Written, error)
	// WriteBatch answers each write, in their order.
	WriteBatch(ctx context.Context, writes []ingest.Write) []ingest.BatchResult

	// Promote makes memories of candidates that the gate refused; more tells
	// that the same call goes on with further ones.
	Promote(ctx context.Context, p ingest.Promotion) (results []ingest.Promoted, more bool, err error)

	Change(ctx context.Context, appID, id string, c ingest.Change) (memory.Memory, error)
	Forget(ctx context.Context, appID, id string) (memory.Memory, error)
	Restore(ctx context.Context, appID, id string) (memory.Memory, error)
}

// Recaller finds memories; package recall implements it.
type Recaller interface {
	Recall(ctx context.Context, q recall.Query) (recall.Answer, error)
	// Touch counts an access of memories that were recalled with NoTouch.
	Touch(ids []string, at time.Time)
}

// TurnLister pages through turns; db.Turns has it.
type TurnLister interface {
	ListTurns(ctx context.Context, f db.TurnFilter) ([]memory.Turn, error)
}

// MemoryReader reads memories; db.Memories has it.
type MemoryReader interface {
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	Events(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Event, error)
	History(ctx context.Context, appID, memoryID string) ([]memory.Event, error)
}

// StatsReader counts an app's rows; db.Counts has it.
type StatsReader interface {
	Stats(ctx context.Context, appID string) (db.Stats, error)
}

// Options is everything that the API stands on. Interfaces, Now and Logger are
// required; for the rest zero chooses the default that is told.
type Options struct {
	Ingest   Ingest
	Recaller Recaller
	Turns    TurnLister
	Memories MemoryReader
	Stats    StatsReader
	// Embedding says by which models memories are embedded; nil: it is not said.
	Embedding func() Embedding
	Keys      KeyFinder // may be nil with Dev
	Checks    []Check   // for /readyz

	Candidates CandidateLister
	Exchange   Exchanger

	Conversations ConversationKeeper
	Sessions      Sessions

	Consolidator   Consolidator
	Consolidations ConsolidationLister

	Facts     FactKeeper
	Timelines FactReader

	Instructor   Instructor
	Instructions InstructionLister
	Skills       SkillKeeper
	SkillReader  SkillReader

	Feed     EventFeed
	Webhooks WebhookKeeper

	Condenser  assembly.Condenser
	Compressor Compressor

	Reflector Reflector
	Related   Relater
	Undoer    Undoer
	Sources   SourceReader
	Forgetter Forgetter
	Eraser    Eraser
	Jobs      JobReader
	JobKinds  []string // kinds of job that admins may see
	// Ask enqueues a job of the whole server: Verification, Repair or Rebuild.
	Ask func(ctx context.Context, kind string) (db.JobInfo, error)

	Registerer prometheus.Registerer // of the request metrics; nil: a registry of its own
	Gatherer   prometheus.Gatherer   // what /metrics shows; nil: Registerer, where it gathers too
	Logger     *zap.Logger
	Now        func() time.Time

	Dev         bool          // no keys: every request is app DevApp's admin
	Limit       int           // memories of a recall that names no limit; 0: 10
	RateLimit   float64       // requests a second and key; 0: no limit
	RateBurst   int           // requests at once; 0: RateLimit rounded up
	BodyLimit   int64         // bytes of a body; 0: 1 MiB
	BatchLimit  int64         // bytes of a batch's body; 0: 16 MiB
	KeyTTL      time.Duration // how long a found key is trusted; a revocation takes effect within it; 0: 5 s
	WaitTimeout time.Duration // how long a write with `wait` waits; 0: 30 s
	Timeout     time.Duration // of any request's work, streams apart; 0: 2 min
	// StreamTimeout is how long a stream may stand still; 0: 1 min.
	StreamTimeout time.Duration
	Streams       int           // of events, that a key may have open here; 0: 16
	Heartbeat     time.Duration // between signs of life in a stream of events; 0: 15 s
}

// Server answers the API's requests. It is an http.Handler, safe for
// concurrent use, and owns nothing that needs closing.
type Server struct {
	Options
	echo     *echo.Echo
	contract *contract
	keys     *keyring
	rates    *rates
	streams  *streams
	draining context.Context // ends when the server shuts down
	drain    context.CancelFunc

	retention *retention
	counts    *assembly.Counts
}

// New puts the API together. It fails where openapi.yaml lacks a route, a metric
// is already registered, or the options contradict each other.
func New(o Options) (*Server, error) {
	if o.BodyLimit == 0 {
		o.BodyLimit = 1 << 20
	}
	if o.BatchLimit == 0 {
		o.BatchLimit = 16 << 20
	}
	if o.WaitTimeout == 0 {
		o.WaitTimeout = 30 * time.Second
	}
	if o.Limit == 0 {
		o.Limit = defaultRecall
	}
	if o.KeyTTL == 0 {
		o.KeyTTL = 5 * time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.StreamTimeout == 0 {
		o.StreamTimeout = time.Minute
	}
	if o.Streams == 0 {
		o.Streams = 16
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 15 * time.Second
	}
	if o.WaitTimeout >= o.Timeout {
		return nil, fmt.Errorf("the wait timeout %s must be shorter than the request timeout %s", o.WaitTimeout, o.Timeout)
	}
	if o.Keys == nil && !o.Dev {
		return nil, errors.New("keys are required unless authentication is off")
	}
	contract, err := loadContract()
	if err != nil {
		return nil, err
	}
	s := &Server{
		Options: o, echo: echo.New(), contract: contract,
		keys: newKeyring(o.Keys, o.KeyTTL, o.Now), rates: newRates(o.RateLimit, o.RateBurst, o.Now), streams: newStreams(o.Streams),
		retention: newRetention(o.Forgetter, o.Now), counts: assembly.NewCounts(keptCounts),
	}
	s.draining, s.drain = context.WithCancel(context.Background())
	metrics, scrape, err := instrument(o.Registerer, o.Gatherer)
	if err != nil {
		return nil, fmt.Errorf("registering the request metrics: %w", err)
	}
	s.echo.HTTPErrorHandler = func(err error, c echo.Context) { s.fail(c, err) }
	s.echo.Use(abort, identify, s.access, metrics, s.problems, s.recoverPanics())
	for _, route := range s.routes(scrape) {
		op, err := contract.operation(route.method, route.path)
		if err != nil {
			return nil, err
		}
		s.echo.Add(route.method, route.path, s.serve(route, op))
	}
	return s, nil
}

// Drain answers those who wait for a turn with the turn as it stands, and ends
// the streams of events: the server is about to end.
func (s *Server) Drain() { s.drain() }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// request is what a handler works on: checked against openapi.yaml.
type request struct {
	echo.Context
	key   memory.Key // zero where the route needs none
	query url.Values
	body  []byte                 // one JSON object; nil where the route takes none
	items map[int][]memory.Field // what is wrong with items that are refused one by one
}

// serve is the way of every request to its handler.
func (s *Server) serve(rt route, op *operation) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx := c.Request().Context()
		if rt.limit != streamed {
			timed, cancel := context.WithTimeout(ctx, s.Timeout)
			defer cancel()
			ctx = timed
		}
		r := &request{Context: c}
		if rt.role == "" { // it takes nothing from the request
			return rt.handle(ctx, r)
		}
		if err := s.admit(ctx, r, rt.role); err != nil {
			return err
		}
		if err := op.check(r, rt.limit); err != nil {
			return err
		}
		return rt.handle(ctx, r)
	}
}
