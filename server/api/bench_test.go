package api

import (
	"context"
	"log/slog"
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

// bench is an API on the real parts that need nothing installed: SQLite, rules
// and the built-in embedder. Its clock stands still until the test moves it,
// and turns stay accepted until it calls work. Faults are put before the parts,
// between requests, by wrappers that override one method.
type bench struct {
	*Server
	t           testing.TB
	store       *sqlite.Store
	vectors     *sqlitevec.Store
	service     *ingest.Service
	session     *session.Service
	consolidate *consolidation.Service
	touches     *recall.Touches
	keyIDs      map[string]string // by secret

	clock *apptest.Clock
	chat  *apptest.Chat
}

// newBench has the keys "read", "write" and "admin" of the app "app".
func newBench(t testing.TB, change func(*Options)) *bench {
	t.Helper()
	log := zap.NewNop()
	b := &bench{
		t: t, store: apptest.SQLite(t), vectors: apptest.Vectors(t, embedder), clock: apptest.NewClock(noon),
		chat: &apptest.Chat{}, keyIDs: map[string]string{},
	}
	b.chat.Answers(`{"insights":[]}`)

	push := projection.New(b.store, b.vectors, projection.Settings{Lease: time.Minute, Backoff: time.Second, BackoffLimit: time.Minute}, b.now, log)
	b.session = session.New(session.Parts{Records: b.store, Now: b.now, Log: log},
		session.Settings{Events: 20, Tokens: 1000, Age: time.Hour, Summary: 400, CacheBytes: 1 << 20})
	b.service = ingest.New(ingest.Parts{
		Accepted: b.session.OnTurnAccepted, Processed: b.session.OnTurnProcessed,
		Records: b.store, Scorer: scorer.NewRules(), Embedder: embedder, Vectors: b.vectors, Pusher: push, Guess: router.GuessBy, Now: b.now, Log: log,
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
		Records: b.store, Derive: derive, Chat: b.chat, Embedder: embedder, Now: b.now, Log: log,
	}, reflection.Settings{Importance: 4, Cooldown: time.Hour, MinFacts: 2, MaxFacts: 100})
	compressor := compression.New(compression.Parts{
		Records: b.store, Derive: derive, Chat: b.chat, Embedder: embedder, Now: b.now, Log: log,
	}, compression.Settings{Similarity: 0.6, MinAge: 90 * 24 * time.Hour, Accesses: 5, MaxMemories: 2000})
	for _, role := range memory.Roles {
		b.issue(string(role), "app", role)
	}
	told := notify.Settings{Poll: 10 * time.Millisecond}
	know := facts.New(facts.Parts{Records: b.store, Embedder: embedder, Pusher: push, Guess: router.Guess, Now: b.now}, 0.5)
	b.consolidate = consolidation.New(consolidation.Parts{
		Records: b.store, Writer: b.service, Facts: know, Guess: router.Guess, Now: b.now, Lease: time.Minute, Log: log,
	}, consolidation.Settings{Importance: 0.6, Urgent: 0.7, Full: 0.8, Idle: time.Hour, Messages: 3, Similarity: 0.9, Attempts: 3})
	o := Options{
		Ingest: b.service, Recaller: recaller, Turns: b.store, Candidates: b.store, Memories: b.store, Stats: b.store, Keys: b.store,
		Conversations: b.store, Sessions: b.session,
		Consolidator: b.consolidate, Consolidations: b.store,
		Facts: know, Timelines: b.store,
		Instructor: instructions.New(b.store, b.now), Instructions: b.store,
		Skills: skills.New(skills.Parts{Records: b.store, Embedder: embedder, Pusher: push, Guess: router.Guess, Now: b.now}), SkillReader: b.store,
		Exchange: exchange.New(b.store, embedder, b.now),
		Feed:     notify.NewFeed(b.store, told, log), Webhooks: notify.NewWebhooks(b.store, told, b.now),
		Jobs: b.store, JobKinds: []string{"forgetting", "purge", erasure.EraseUser{}.Kind()}, Forgetter: forgetter, Eraser: erasure.New(b.store, b.vectors, func(memory.Owner) { b.service.Purge(); b.session.Purge() }, b.now, log),
		Condenser:  compression.NewCondenser(b.chat, compression.Limits{Memories: 5, Timeout: time.Minute, Cache: 10}),
		Compressor: compressor, Reflector: reflector, Undoer: derive, Related: related.New(b.store, b.vectors, embedder, related.Settings{OwnWindow: 10 * time.Second, OwnLimit: 100, VectorTimeout: time.Minute}, b.now, log), Sources: b.store,
		Checks: []Check{{Name: "database", Required: true, Check: b.store.Ping}, {Name: "vector_store", Check: b.vectors.Ping}},
		Ask: func(ctx context.Context, kind string) (db.JobInfo, error) {
			return jobs.Ask(ctx, b.store, kind, memory.Instant(b.now()))
		},
		Registerer: prometheus.NewRegistry(), Logger: log, Now: b.now,
	}
	if change != nil {
		change(&o)
	}
	var err error
	b.Server, err = New(o)
	b.must(err)
	return b
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) now() time.Time { return b.clock.Now() }

func (b *bench) advance(d time.Duration) { b.clock.Advance(d) }

// issue makes an API key.
func (b *bench) issue(secret, appID string, role memory.Role) {
	b.t.Helper()
	b.keyIDs[secret] = memory.NewID()
	b.must(b.store.CreateKey(b.t.Context(), memory.Key{
		ID: b.keyIDs[secret], Hash: HashKey(secret), Name: secret, AppID: appID, Role: role, CreatedAt: b.now(),
	}))
}

// work begins to process turns, those accepted before among them.
func (b *bench) work() {
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
func (b *bench) settle(turnID string) ingest.Outcome {
	b.t.Helper()
	outcome, err := b.service.Await(b.t.Context(), "app", turnID)
	b.must(err)
	return outcome
}

// owner is a user of the app "app".
func owner(userID string) memory.Owner { return memory.Owner{AppID: "app", UserID: userID} }

// accept stores and queues a turn of a user, whose client id may be empty.
func (b *bench) accept(userID, clientID, content string) memory.Turn {
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
func (b *bench) keep(w ingest.Write) memory.Memory {
	b.t.Helper()
	written, err := b.service.Write(b.t.Context(), w)
	b.must(err)
	stored, err := b.store.Memory(b.t.Context(), w.Owner.AppID, written.Memory.ID)
	b.must(err)
	return stored
}

// peanuts is a memory of the user "u".
func (b *bench) peanuts() memory.Memory {
	b.t.Helper()
	importance := 0.8
	return b.keep(ingest.Write{
		Owner: owner("u"), Content: "Is allergic to peanuts.", Importance: &importance, Domain: memory.Preferences,
		Tags: []string{"food"}, Metadata: []byte(`{"a":1}`), Pinned: true,
	})
}

// stored is a memory of the app "app" as the database has it.
func (b *bench) stored(id string) memory.Memory {
	b.t.Helper()
	m, err := b.store.Memory(b.t.Context(), "app", id)
	b.must(err)
	return m
}
