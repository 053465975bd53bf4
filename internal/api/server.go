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

	"hippocampus/db"
	"hippocampus/internal/assembly"
	"hippocampus/internal/ingest"
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

// route is one entry of the API.
type route struct {
	method, path string
	role         memory.Role // the weakest that may; empty: no key is needed
	limit        int64       // bytes of the body; 0: it takes none; streamed: no bound
	handle       func(context.Context, *request) error
}

func (s *Server) routes(scrape http.Handler) []route {
	const read, write, admin = memory.RoleRead, memory.RoleWrite, memory.RoleAdmin
	return []route{
		{"POST", "/v1/turns", write, s.BodyLimit, s.postTurn},
		{"GET", "/v1/turns", read, 0, s.listTurns},
		{"GET", "/v1/turns/:id", read, 0, s.getTurn},
		{"POST", "/v1/turns/:id/replay", write, 0, s.replayTurn},

		{"GET", "/v1/conversations", read, 0, s.listConversations},
		{"GET", "/v1/conversations/:id", read, 0, s.getConversation},
		{"PATCH", "/v1/conversations/:id", write, s.BodyLimit, s.patchConversation},
		{"DELETE", "/v1/conversations/:id", write, 0, s.deleteConversation},
		{"GET", "/v1/conversations/:id/working", read, 0, s.getWorking},
		{"POST", "/v1/conversations/:id/end", write, s.BodyLimit, s.endConversation},
		{"GET", "/v1/conversations/:id/consolidations", read, 0, s.listConsolidations},

		{"POST", "/v1/memories", write, s.BodyLimit, s.postMemory},
		{"POST", "/v1/memories/batch", write, s.BatchLimit, s.postBatch},
		{"GET", "/v1/memories", read, 0, s.listMemories},
		{"GET", "/v1/memories/:id", read, 0, s.getMemory},
		{"PATCH", "/v1/memories/:id", write, s.BodyLimit, s.patchMemory},
		{"DELETE", "/v1/memories/:id", write, 0, s.deleteMemory},
		{"GET", "/v1/memories/:id/history", read, 0, s.getHistory},
		{"POST", "/v1/memories/:id/restore", write, 0, s.restoreMemory},
		{"POST", "/v1/memories/:id/undo", write, 0, s.undoMemory},
		{"POST", "/v1/memories/:id/relations", write, s.BodyLimit, s.postRelation},
		{"DELETE", "/v1/memories/:id/relations", write, 0, s.deleteRelation},
		{"GET", "/v1/memories/:id/related", read, 0, s.getRelated},

		{"PUT", "/v1/facts", write, s.BodyLimit, s.putFact},
		{"GET", "/v1/facts", read, 0, s.listFacts},
		{"DELETE", "/v1/facts", write, 0, s.endFact},
		{"GET", "/v1/facts/history", read, 0, s.factHistory},

		{"POST", "/v1/instructions", write, s.BodyLimit, s.postInstruction},
		{"GET", "/v1/instructions", read, 0, s.listInstructions},
		{"GET", "/v1/instructions/merged", read, 0, s.mergedInstructions},
		{"GET", "/v1/instructions/:name", read, 0, s.getInstruction},
		{"DELETE", "/v1/instructions/:name", write, 0, s.retireInstruction},
		{"GET", "/v1/instructions/:name/versions", read, 0, s.listVersions},
		{"GET", "/v1/instructions/:name/diff", read, 0, s.diffInstruction},
		{"POST", "/v1/instructions/:name/activate", write, s.BodyLimit, s.activateInstruction},
		{"POST", "/v1/instructions/:name/rollback", write, s.BodyLimit, s.rollBackInstruction},

		{"GET", "/v1/skills", read, 0, s.listSkills},
		{"GET", "/v1/skills/:name", read, 0, s.getSkill},
		{"POST", "/v1/skills/:name/outcomes", write, s.BodyLimit, s.postOutcome},

		{"GET", "/v1/candidates", read, 0, s.listCandidates},
		{"POST", "/v1/candidates/promote", write, s.BodyLimit, s.promoteCandidates},

		{"POST", "/v1/recall", read, s.BodyLimit, s.recall},
		{"POST", "/v1/context", read, s.BodyLimit, s.context},
		{"POST", "/v1/reflect", write, s.BodyLimit, s.reflect},
		{"POST", "/v1/forget", write, s.BodyLimit, s.forget},
		{"POST", "/v1/compress", write, s.BodyLimit, s.compress},
		{"DELETE", "/v1/users/:user_id", admin, 0, s.eraseUser},
		{"GET", "/v1/stats", read, 0, s.stats},
		{"GET", "/v1/export", read, streamed, s.exportMemories},
		{"POST", "/v1/import", admin, streamed, s.importMemories},
		{"GET", "/v1/events", read, streamed, s.streamEvents},
		{"POST", "/v1/webhooks", admin, s.BodyLimit, s.postWebhook},
		{"GET", "/v1/webhooks", admin, 0, s.listWebhooks},
		{"GET", "/v1/webhooks/:id", admin, 0, s.getWebhook},
		{"PATCH", "/v1/webhooks/:id", admin, s.BodyLimit, s.patchWebhook},
		{"DELETE", "/v1/webhooks/:id", admin, 0, s.deleteWebhook},
		{"GET", "/v1/jobs", admin, 0, s.listJobs},
		{"GET", "/v1/jobs/:id", admin, 0, s.getJob},
		{"POST", "/v1/admin/verify", admin, 0, s.ask(Verification)},
		{"POST", "/v1/admin/repair", admin, 0, s.ask(Repair)},
		{"POST", "/v1/admin/rebuild", admin, 0, s.ask(Rebuild)},

		{"GET", "/healthz", "", 0, s.health},
		{"GET", "/readyz", "", 0, s.ready},
		{"GET", "/metrics", "", 0, func(_ context.Context, r *request) error {
			scrape.ServeHTTP(r.Response(), r.Request())
			return nil
		}},
		{"GET", "/openapi.yaml", "", 0, func(_ context.Context, r *request) error {
			return r.Blob(http.StatusOK, "application/yaml", openAPI)
		}},
	}
}

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
