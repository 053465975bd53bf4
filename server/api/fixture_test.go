package api

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"hippocampus/conversation/consolidation"
	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/db/modes"
	"hippocampus/db/sqlite"
	"hippocampus/db/zones"
	"hippocampus/exchange"
	"hippocampus/forgetting"
	"hippocampus/forgetting/erasure"
	"hippocampus/ingest"
	"hippocampus/ingest/policy"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
	"hippocampus/knowledge/instructions"
	"hippocampus/knowledge/skills"
	"hippocampus/learning"
	"hippocampus/memorytool"
	"hippocampus/notify"
	"hippocampus/recall"
	"hippocampus/recall/profile"
	"hippocampus/recall/related"
	"hippocampus/reflection"
	"hippocampus/reflection/compression"
	"hippocampus/reflection/derivation"
	"hippocampus/router"
	"hippocampus/scorer"
	"hippocampus/scorer/statement"
	"hippocampus/server/frame"
	"hippocampus/tests/apptest"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/sqlitevec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// someID is an id that does not exist.
const someID = "0198c0de-0000-7000-8000-000000000001"

var embedder = llm.Hashed(128)

// fixture is an API on the real parts that need no installation: SQLite, rules
// and the built-in embedder. Its clock stands still until the test moves it, and
// turns stay accepted until the test calls work. A test replaces a part by a
// wrapper that overrides one method.
type fixture struct {
	*Server
	contract    *openapi3.T
	router      *echo.Echo // finds the route of a request
	options     Options
	t           testing.TB
	store       *sqlite.Store
	vectors     *sqlitevec.Store
	service     *ingest.Service
	session     *session.Service
	consolidate *consolidation.Service
	touches     *recall.Touches
	zones       *zones.Service
	chat        *apptest.Chat
	clock       *apptest.Clock
	keyIDs      map[string]string // by secret
}

// servedBy returns a threshold as the server's parts ask for it.
func servedBy(
	s *learning.Service, name memory.ThresholdName,
) func(context.Context, string) (memory.Threshold, error) {
	return func(ctx context.Context, appID string) (memory.Threshold, error) { return s.Of(ctx, appID, name) }
}

// newFixture has the keys "read", "write" and "admin" of the app "app".
func newFixture(t testing.TB, change func(*Options)) *fixture {
	t.Helper()
	log := zap.NewNop()
	f := &fixture{
		t: t, store: apptest.SQLite(t), vectors: apptest.Vectors(t, embedder),
		chat: &apptest.Chat{}, clock: apptest.NewClock(noon), keyIDs: map[string]string{},
	}
	f.zones = zones.New(f.store, nil, f.now)
	f.chat.Answers(`{"insights":[]}`)

	push := projection.New(f.store, f.vectors, projection.Settings{
		Lease: time.Minute, Backoff: time.Second, BackoffLimit: time.Minute,
	}, f.now, log)
	f.session = session.New(session.Parts{
		Records: f.store, OnTurn: func(context.Context, session.ProcessedTurn) {}, Now: f.now, Log: log},
		session.Settings{Events: 20, Tokens: 1000, Age: time.Hour, Summary: 400, CacheBytes: 1 << 20})
	writer := write.New(write.Parts{
		Records: f.store, Embedder: embedder, Vectors: f.vectors, Pusher: push, Now: f.now, Log: log,
	}, write.Settings{MergeSimilarity: 0.95, OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 100})
	policies := policy.New(f.store, f.now)
	f.service = ingest.New(ingest.Parts{
		Policies: policies.Of,
		OnAccepted: func(turn memory.Turn) {
			f.zones.OnTurnAccepted(turn)
			f.session.OnTurnAccepted(turn)
		},
		Zone:        f.zones.Of,
		OnProcessed: f.session.OnTurnProcessed,
		Records:     f.store, Scorer: scorer.NewRules(), Writer: writer, Embedder: embedder, Pusher: push,
		Guess: statement.Domain, Now: f.now, Log: log,
	}, ingest.Settings{
		Threshold: 0.7, EchoWindow: 10 * time.Minute, Attempts: 1, RetryDelay: time.Second, RetryLimit: time.Minute,
		GiveUp: time.Hour, Lease: time.Minute, Renew: time.Hour, Timeout: time.Minute,
	})
	gate := router.Open(nil, router.Options{Now: f.now})
	t.Cleanup(gate.Close)
	f.touches = recall.NewTouches(f.store, time.Hour, log)
	recaller := recall.New(f.store, f.vectors, gate, embedder, f.touches, recall.Settings{
		Mode: recall.Modulated, Weights: recall.Weights{Relevance: 0.5, Decay: 0.2, Importance: 0.3},
		DecayRate: 0.99, Lift: recall.Lift{Near: 0.5, Far: 0.2}, LexicalFloor: 0.3, Words: 0.5, Contrast: 3,
		BM25: recall.BM25{K1: 1.2, B: 0.4}, Candidates: 50,
		OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 100,
		VectorTimeout: time.Minute, EmbedTimeout: time.Minute, QueryCache: 1 << 20, IndexCache: 1 << 20,
		ZoneOf: f.zones.Of,
	}, f.now, log)

	forgetter := forgetting.New(f.store, push, forgetting.Settings{
		Rule: forgetting.Rule{
			Policy: forgetting.Strengthening, Threshold: 0.1, Base: 0.9, Growth: 1.5, Lambda: 0.1, MaxShare: 0.2,
		},
		PurgeAfter: 30 * 24 * time.Hour,
	}, f.now, log)
	derive := derivation.New(f.store, push, embedder, f.now)
	reflector := reflection.New(reflection.Parts{
		Records: f.store, Derive: derive, Chat: f.chat, Now: f.now, Log: log,
	}, reflection.Settings{Rule: reflection.Rule{Importance: 4, Cooldown: time.Hour, MinFacts: 2}, MaxFacts: 100})
	compressor := compression.New(compression.Parts{
		Records: f.store, Derive: derive, Chat: f.chat, Now: f.now, Log: log, Episodes: f.episodes(),
		Rule: func(context.Context, memory.Owner) (compression.Rule, error) { return forgetter.Rule(), nil },
	}, compression.Settings{Accesses: 5, MaxMemories: 2000})
	for _, role := range memory.Roles {
		f.issue(string(role), "app", role)
	}
	announcing := notify.Settings{Poll: 10 * time.Millisecond}
	onChanged, onAdded := func(memory.Owner) {}, func(context.Context, memory.Owner, int) {}
	timelines := facts.New(facts.Parts{
		Records: f.store, Embedder: embedder, Pusher: push, Guess: statement.Domain,
		Compare: writer.Compare, OnChanged: onChanged, OnAdded: onAdded, Now: f.now,
	}, 0.5)
	f.consolidate = consolidation.New(consolidation.Parts{
		Records: f.store, Writer: f.service, Facts: timelines, Guess: statement.Domain, Now: f.now,
		Lease: time.Minute, Timeout: time.Minute, Log: log,
		OnAttempt: func(memory.ConsolidationType, memory.ConsolidationState) {},
	}, consolidation.Settings{
		Importance: 0.6, Urgent: 0.7, Full: 0.8, Idle: time.Hour, Messages: 3, Similarity: 0.9, Attempts: 3,
	})
	learn := learning.New(f.store, learning.Settings{Gate: 0.7, Confidence: ContextConfidence}, f.now)
	eraser := erasure.New(f.store, f.vectors, func(memory.Owner) { f.service.Purge(); f.session.Purge() }, f.now, log)
	f.options = Options{
		Access:  frame.Access{Keys: f.store},
		Quotas:  Quotas{Counter: f.store},
		Metrics: frame.Metrics{Registerer: prometheus.NewRegistry()},
		Checks: []Check{
			{Name: "database", Required: true, Check: f.store.Ping}, {Name: "vector_store", Check: f.vectors.Ping},
		},
		Logger: log, Now: f.now,

		Turns:          TurnParts{Ingester: f.service, Lister: f.store},
		Conversations:  ConversationParts{Reader: f.store, People: f.store, Sessions: f.session, Forgetter: f.service},
		Consolidations: ConsolidationParts{Consolidator: f.consolidate, Lister: f.store},
		Memories:       MemoryParts{Reader: f.store, Writer: f.service, Undoer: derive},
		Related: related.New(f.store, f.vectors, embedder, related.Settings{
			OwnWindow: 10 * time.Second, OwnLimit: 100, VectorTimeout: time.Minute,
		}, f.now, log),
		Facts:    FactParts{Writer: timelines, Reader: f.store},
		Policies: PolicyParts{Keeper: policies},
		Profiles: ProfileParts{Schemas: f.store, Filler: profile.New(profile.Parts{
			Records: f.store, Stander: recaller, Chat: f.chat, Now: f.now, Log: log,
		})},
		Documents:    DocumentParts{Writer: f.service, Reader: f.store},
		Reprocess:    ReprocessParts{Runner: f.service, Reader: f.store},
		Instructions: InstructionParts{Publisher: instructions.New(f.store, f.now), Reader: f.store},
		Skills: SkillParts{Recorder: skills.New(skills.Parts{
			Records: f.store, Embedder: embedder, Pusher: push, Guess: statement.Domain,
			OnChanged: onChanged, OnAdded: onAdded, Now: f.now,
		}), Reader: f.store},
		MemoryTool: MemoryToolParts{Runner: memorytool.New(f.store, f.service, f.now), Reader: f.store},
		Candidates: CandidateParts{Lister: f.store, Promoter: f.service, Threshold: servedBy(learn, memory.GateThreshold)},
		Recall: RecallParts{
			Recaller: recaller, People: f.store, Sources: f.store, Log: f.store, ZoneOf: f.zones.Of,
			Episodes: f.episodes(),
			Feedback: learn, Confidence: servedBy(learn, memory.ConfidenceThreshold),
		},
		Pool:       PoolParts{Keeper: f.service, Reader: f.store},
		Thresholds: learn,
		Condenser:  compression.NewCondenser(f.chat, compression.Limits{Memories: 5, Timeout: time.Minute, Cache: 10}),
		Reflector:  reflector,
		Proposals:  ProposalParts{Insights: derive, Workflows: f.store},
		Forgetter:  forgetter,
		Compressor: compressor,
		Eraser:     eraser,
		Merger:     eraser,
		Users:      f.store,
		Zones:      f.zones,
		Modes:      modes.New(f.store),
		Stats:      StatsParts{Counter: f.store, Retention: forgetter},
		Exchange:   exchange.New(f.store, embedder, f.now),
		Keys:       f.store,
		State: StateParts{
			Backlog:  func(ctx context.Context) (db.Backlog, error) { return f.store.VectorBacklog(ctx, nil) },
			Drift:    func() (Drift, bool) { return Drift{At: noon, Missing: 1, Orphaned: 2, Different: 3}, true },
			Lag:      func() time.Duration { return 1500 * time.Millisecond },
			Schedule: func() map[string]time.Time { return map[string]time.Time{"forgetting": noon.Add(15 * time.Hour)} },
		},
		Events:   EventParts{Feed: notify.NewFeed(f.store, announcing, log)},
		Webhooks: notify.NewWebhooks(f.store, announcing, f.now),
		Jobs: JobParts{
			Reader: f.store, Kinds: []string{"forgetting", "purge", erasure.EraseUser{}.Kind()},
			Enqueue: func(ctx context.Context, kind string) (db.JobInfo, error) {
				return jobs.EnqueueAt(ctx, f.store, kind, memory.Instant(f.now()))
			},
		},
	}
	f.restart(change)
	return f
}

// restart changes the options and starts the API again on the same stores.
func (f *fixture) restart(change func(*Options)) {
	f.t.Helper()
	if change != nil {
		change(&f.options)
	}
	var err error
	f.contract, err = wholeDocument()
	f.must(err)
	f.Server, err = New(f.options)
	f.must(err)
	f.router = echo.New()
	for _, rt := range f.routes() {
		f.router.Add(rt.Method, rt.Path, echo.NotFoundHandler)
	}
	f.options.Metrics.Registerer = prometheus.NewRegistry() // of the next start
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) now() time.Time { return f.clock.Now() }

func (f *fixture) advance(d time.Duration) { f.clock.Advance(d) }

// issue makes an API key.
func (f *fixture) issue(secret, appID string, role memory.Role) {
	f.t.Helper()
	f.keyIDs[secret] = memory.NewID()
	f.must(f.store.CreateKey(f.t.Context(), memory.Key{
		ID: f.keyIDs[secret], Hash: frame.HashKey(secret), Name: secret, AppID: appID, Role: role, CreatedAt: f.now(),
	}))
}

// work processes turns, including turns accepted before, until the test ends or stop is called.
func (f *fixture) work() (stop func()) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var worker sync.WaitGroup
	worker.Go(func() { f.service.Work(ctx) })
	stop = func() { cancel(); worker.Wait() }
	f.t.Cleanup(stop)
	return stop
}

// settle waits until a turn is processed or failed.
func (f *fixture) settle(turnID string) ingest.Outcome {
	f.t.Helper()
	outcome, err := f.service.Await(f.t.Context(), "app", turnID)
	f.must(err)
	return outcome
}

// owner is a user of the app "app".
func owner(userID string) memory.Owner { return memory.Owner{AppID: "app", UserID: userID} }

// accept stores and queues a turn of a user, whose client id may be empty.
func (f *fixture) accept(userID, clientID, content string) memory.Turn {
	f.t.Helper()
	turn, _, err := f.service.Accept(f.t.Context(), memory.Turn{
		Owner: owner(userID), ClientID: clientID, Messages: []memory.Message{{Role: "user", Content: content}},
	})
	f.must(err)
	return turn
}

// keep writes a memory.
func (f *fixture) keep(w ingest.Write) memory.Memory {
	f.t.Helper()
	written, err := f.service.Write(f.t.Context(), w)
	f.must(err)
	stored, err := f.store.Memory(f.t.Context(), w.Owner.AppID, written.Memory.ID)
	f.must(err)
	return stored
}

// peanuts is a memory of the user "u".
func (f *fixture) peanuts() memory.Memory {
	f.t.Helper()
	importance := 0.8
	return f.keep(ingest.Write{
		Owner: owner("u"), Content: "Is allergic to peanuts.", Importance: &importance, Domain: memory.Preferences,
		Tags: []string{"food"}, Metadata: []byte(`{"a":1}`), Pinned: true,
	})
}

// stored returns a memory of the app "app" from the database.
func (f *fixture) stored(id string) memory.Memory {
	f.t.Helper()
	m, err := f.store.Memory(f.t.Context(), "app", id)
	f.must(err)
	return m
}

// routes lists every route of the API.
func (f *fixture) routes() []frame.Route {
	all := frame.Routes{Limits: f.options.limits.WithDefaults()}
	for _, f := range f.features(f.options) {
		f.register(&all)
	}
	return all.List
}

// checkLine checks a line of an export against openapi.yaml.
func (f *fixture) checkLine(line string) error {
	return checkLine(exportLine(f.t), []byte(line))
}
