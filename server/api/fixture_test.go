package api

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"hippocampus/conversation/consolidation"
	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/db/sqlite"
	"hippocampus/exchange"
	"hippocampus/forgetting"
	"hippocampus/forgetting/erasure"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
	"hippocampus/knowledge/instructions"
	"hippocampus/knowledge/skills"
	"hippocampus/notify"
	"hippocampus/recall"
	"hippocampus/recall/related"
	"hippocampus/reflection"
	"hippocampus/reflection/compression"
	"hippocampus/reflection/derivation"
	"hippocampus/router"
	"hippocampus/scorer"
	"hippocampus/tests/apptest"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/sqlitevec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// someID is an id that nothing has.
const someID = "0198c0de-0000-7000-8000-000000000001"

var embedder = llm.Hashed(128)

// fixture is an API on the real parts that need no installation: SQLite, rules
// and the built-in embedder. Its clock stands still until the test moves it, and
// turns stay accepted until the test calls work. A test replaces a part by a
// wrapper that overrides one method.
type fixture struct {
	*Server
	options     Options
	t           testing.TB
	store       *sqlite.Store
	vectors     *sqlitevec.Store
	service     *ingest.Service
	session     *session.Service
	consolidate *consolidation.Service
	touches     *recall.Touches
	chat        *apptest.Chat
	clock       *apptest.Clock
	keyIDs      map[string]string // by secret
}

// newFixture has the keys "read", "write" and "admin" of the app "app".
func newFixture(t testing.TB, change func(*Options)) *fixture {
	t.Helper()
	log := zap.NewNop()
	b := &fixture{
		t: t, store: apptest.SQLite(t), vectors: apptest.Vectors(t, embedder),
		chat: &apptest.Chat{}, clock: apptest.NewClock(noon), keyIDs: map[string]string{},
	}
	b.chat.Answers(`{"insights":[]}`)

	push := projection.New(b.store, b.vectors, projection.Settings{Lease: time.Minute, Backoff: time.Second, BackoffLimit: time.Minute}, b.now, log)
	b.session = session.New(session.Parts{Records: b.store, Now: b.now, Log: log},
		session.Settings{Events: 20, Tokens: 1000, Age: time.Hour, Summary: 400, CacheBytes: 1 << 20})
	b.service = ingest.New(ingest.Parts{
		Accepted: b.session.OnTurnAccepted, Processed: b.session.OnTurnProcessed,
		Records: b.store, Scorer: scorer.NewRules(), Embedder: embedder, Vectors: b.vectors, Pusher: push, Guess: router.GuessByLexemes, Now: b.now, Log: log,
	}, ingest.Settings{
		Threshold: 0.7, EchoWindow: 10 * time.Minute, MergeSimilarity: 0.95, OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 100,
		Attempts: 1, RetryDelay: time.Second, RetryLimit: time.Minute, GiveUp: time.Hour, Lease: time.Minute, ResumeAfter: time.Hour,
	})
	gate := router.Open(router.NewRules(), router.Options{Timeout: time.Minute, Now: b.now})
	t.Cleanup(gate.Close)
	b.touches = recall.NewTouches(b.store, time.Hour, log)
	recaller := recall.New(b.store, b.vectors, gate, embedder, b.touches, recall.Settings{
		Mode: recall.Modulated, Weights: recall.Weights{Relevance: 0.5, Decay: 0.2, Importance: 0.3}, DecayRate: 0.99, Lift: recall.Lift{Near: 0.5, Far: 0.2}, LexicalFloor: 0.3, Words: 0.5, Contrast: 3,
		BM25: recall.BM25{K1: 1.2, B: 0.4}, Candidates: 50, OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 100,
		VectorTimeout: time.Minute, EmbedTimeout: time.Minute, QueryCache: 1 << 20, IndexCache: 1 << 20,
	}, b.now, log)

	forgetter := forgetting.New(b.store, push, forgetting.Settings{
		Rule:     forgetting.Rule{Policy: forgetting.Strengthening, Threshold: 0.1, Base: 0.9, Growth: 1.5},
		MaxShare: 0.2, PurgeAfter: 30 * 24 * time.Hour,
	}, b.now, log)
	derive := derivation.New(b.store, push, embedder, b.now)
	reflector := reflection.New(reflection.Parts{
		Records: b.store, Derive: derive, Chat: b.chat, Now: b.now, Log: log,
	}, reflection.Settings{Importance: 4, Cooldown: time.Hour, MinFacts: 2, MaxFacts: 100})
	compressor := compression.New(compression.Parts{
		Records: b.store, Derive: derive, Chat: b.chat, Now: b.now, Log: log,
	}, compression.Settings{Similarity: 0.6, MinAge: 90 * 24 * time.Hour, Accesses: 5, MaxMemories: 2000})
	for _, role := range memory.Roles {
		b.issue(string(role), "app", role)
	}
	announcing := notify.Settings{Poll: 10 * time.Millisecond}
	timelines := facts.New(facts.Parts{Records: b.store, Embedder: embedder, Pusher: push, Guess: router.Guess, Now: b.now}, 0.5)
	b.consolidate = consolidation.New(consolidation.Parts{
		Records: b.store, Writer: b.service, Facts: timelines, Guess: router.Guess, Now: b.now, Lease: time.Minute, Log: log,
	}, consolidation.Settings{Importance: 0.6, Urgent: 0.7, Full: 0.8, Idle: time.Hour, Messages: 3, Similarity: 0.9, Attempts: 3})
	b.options = Options{
		Access:  Access{Keys: b.store},
		Metrics: Metrics{Registerer: prometheus.NewRegistry()},
		Checks: []Check{
			{Name: "database", Required: true, Check: b.store.Ping}, {Name: "vector_store", Check: b.vectors.Ping},
		},
		Logger: log, Now: b.now,

		Turns:          TurnParts{Ingester: b.service, Lister: b.store},
		Conversations:  ConversationParts{Reader: b.store, Sessions: b.session},
		Consolidations: ConsolidationParts{Consolidator: b.consolidate, Lister: b.store},
		Memories:       MemoryParts{Reader: b.store, Writer: b.service, Undoer: derive},
		Related: related.New(b.store, b.vectors, embedder, related.Settings{
			OwnWindow: 10 * time.Second, OwnLimit: 100, VectorTimeout: time.Minute,
		}, b.now, log),
		Facts:        FactParts{Writer: timelines, Reader: b.store},
		Instructions: InstructionParts{Publisher: instructions.New(b.store, b.now), Reader: b.store},
		Skills: SkillParts{Recorder: skills.New(skills.Parts{
			Records: b.store, Embedder: embedder, Pusher: push, Guess: router.Guess, Now: b.now,
		}), Reader: b.store},
		Candidates: CandidateParts{Lister: b.store, Promoter: b.service},
		Recall:     RecallParts{Recaller: recaller, Sources: b.store},
		Condenser:  compression.NewCondenser(b.chat, compression.Limits{Memories: 5, Timeout: time.Minute, Cache: 10}),
		Reflector:  reflector,
		Forgetter:  forgetter,
		Compressor: compressor,
		Eraser:     erasure.New(b.store, b.vectors, func(memory.Owner) { b.service.Purge(); b.session.Purge() }, b.now, log),
		Stats:      StatsParts{Counter: b.store, Retention: forgetter},
		Exchange:   exchange.New(b.store, embedder, b.now),
		Events:     EventParts{Feed: notify.NewFeed(b.store, announcing, log)},
		Webhooks:   notify.NewWebhooks(b.store, announcing, b.now),
		Jobs: JobParts{
			Reader: b.store, Kinds: []string{"forgetting", "purge", erasure.EraseUser{}.Kind()},
			Enqueue: func(ctx context.Context, kind string) (db.JobInfo, error) {
				return jobs.Ask(ctx, b.store, kind, memory.Instant(b.now()))
			},
		},
	}
	b.restart(change)
	return b
}

// restart changes the options and starts the API again on the same stores.
func (b *fixture) restart(change func(*Options)) {
	b.t.Helper()
	if change != nil {
		change(&b.options)
	}
	var err error
	b.Server, err = New(b.options)
	b.must(err)
	b.options.Metrics.Registerer = prometheus.NewRegistry() // of the next start
}

func (b *fixture) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *fixture) now() time.Time { return b.clock.Now() }

func (b *fixture) advance(d time.Duration) { b.clock.Advance(d) }

// issue makes an API key.
func (b *fixture) issue(secret, appID string, role memory.Role) {
	b.t.Helper()
	b.keyIDs[secret] = memory.NewID()
	b.must(b.store.CreateKey(b.t.Context(), memory.Key{
		ID: b.keyIDs[secret], Hash: HashKey(secret), Name: secret, AppID: appID, Role: role, CreatedAt: b.now(),
	}))
}

// work begins to process turns, those accepted before among them.
func (b *fixture) work() {
	b.t.Helper()
	runner, err := jobs.New(b.store.Driver(), jobs.Options{
		Workers: 2, Poll: 10 * time.Millisecond, Timeout: time.Minute, Drain: time.Minute, Log: slog.New(slog.DiscardHandler),
	}, jobs.Handle(func(ctx context.Context, job ingest.ProcessTurn) error { return b.service.Process(ctx, job.TurnID) }))
	b.must(err)
	b.must(runner.Start(b.t.Context()))
	b.t.Cleanup(func() { _ = runner.Stop(context.Background()) })
	ctx, end := context.WithCancel(context.Background())
	var dispatch sync.WaitGroup
	dispatch.Go(func() { b.service.Dispatch(ctx) })
	b.t.Cleanup(func() { end(); dispatch.Wait() })
}

// settle waits until a turn is processed or failed.
func (b *fixture) settle(turnID string) ingest.Outcome {
	b.t.Helper()
	outcome, err := b.service.Await(b.t.Context(), "app", turnID)
	b.must(err)
	return outcome
}

// owner is a user of the app "app".
func owner(userID string) memory.Owner { return memory.Owner{AppID: "app", UserID: userID} }

// accept stores and queues a turn of a user, whose client id may be empty.
func (b *fixture) accept(userID, clientID, content string) memory.Turn {
	b.t.Helper()
	turn, _, err := b.service.Accept(b.t.Context(), memory.Turn{
		Owner: owner(userID), ClientID: clientID, Messages: []memory.Message{{Role: "user", Content: content}},
	})
	b.must(err)
	ended, end := context.WithCancel(b.t.Context())
	end()
	b.service.Dispatch(ended) // enqueues what waits
	return turn
}

// keep writes a memory.
func (b *fixture) keep(w ingest.Write) memory.Memory {
	b.t.Helper()
	written, err := b.service.Write(b.t.Context(), w)
	b.must(err)
	stored, err := b.store.Memory(b.t.Context(), w.Owner.AppID, written.Memory.ID)
	b.must(err)
	return stored
}

// peanuts is a memory of the user "u".
func (b *fixture) peanuts() memory.Memory {
	b.t.Helper()
	importance := 0.8
	return b.keep(ingest.Write{
		Owner: owner("u"), Content: "Is allergic to peanuts.", Importance: &importance, Domain: memory.Preferences,
		Tags: []string{"food"}, Metadata: []byte(`{"a":1}`), Pinned: true,
	})
}

// stored is a memory of the app "app" as the database has it.
func (b *fixture) stored(id string) memory.Memory {
	b.t.Helper()
	m, err := b.store.Memory(b.t.Context(), "app", id)
	b.must(err)
	return m
}

// routes lists every route of the API.
func (b *fixture) routes() []route {
	var all routes
	for _, f := range b.features(b.options, http.NotFoundHandler()) {
		f.register(&all)
	}
	return all.list
}

// checkLine checks a line of an export against openapi.yaml.
func (b *fixture) checkLine(line string) error {
	return exchangeHandlers{server: b.Server}.checkLine([]byte(line))
}
