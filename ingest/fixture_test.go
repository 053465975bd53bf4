package ingest

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/ingest/judge"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
	"hippocampus/tests/apptest"
	"hippocampus/vectorstore/projection"
)

var (
	ada   = memory.Owner{AppID: "app", UserID: "ada"}
	begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// comparing are settings of a writer.
var comparing = write.Settings{
	MergeSimilarity: 0.95, JudgeSimilarity: 0.8, JudgeTimeout: time.Minute,
	OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 100,
}

// fixture is a service on real SQLite stores, a scripted model and a clock that
// the test moves.
type fixture struct {
	*Service
	t      *testing.T
	models *llmtest.Server
	store  *sqlite.Store
	spy    *spy
	clock  *apptest.Clock
	told   int // turns that tell has reported

	lastTurn string // the time in the id of the last turn
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	models, client := apptest.Models(t)
	b := &fixture{t: t, models: models, store: apptest.SQLite(t), clock: apptest.NewClock(begin)}
	embedder, err := client.Embedder(t.Context(), llm.EmbedderOptions{Model: "scripted"})
	if err != nil {
		t.Fatal(err)
	}
	vectors := apptest.Vectors(t, embedder)
	log := zaptest.NewLogger(t)
	b.spy = &spy{Records: b.store}
	pusher := projection.New(b.store, vectors, projection.Settings{Lease: time.Minute, Backoff: time.Second,
		BackoffLimit: time.Minute}, b.clock.Now, log)
	writer := write.New(write.Parts{
		Records: written{b.store, b.spy}, Judge: judge.NewLLM(client.Chat("scripted")), Embedder: embedder,
		Vectors: vectors, Pusher: pusher, Now: b.clock.Now, Log: log,
	}, comparing)
	b.Service = New(Parts{
		Records: b.spy, Scorer: scorer.NewLLM(client.Chat("scripted")), Writer: writer, Embedder: embedder, Pusher: pusher,
		Guess: func(string) memory.Domain { return memory.GeneralChat }, Now: b.clock.Now, Log: log,
		IsSmallTalk: func(s string) bool { return s == "" || s == "thanks" || s == "yes" || s == "How are you?" },
	}, Settings{
		Threshold: 0.7, EchoWindow: 10 * time.Minute, Before: 3, Attempts: 3,
		RetryDelay: time.Second, RetryLimit: 5 * time.Minute, GiveUp: 24 * time.Hour, Lease: time.Minute,
		Renew: time.Hour, Timeout: time.Minute,
	})
	return b
}

// turn accepts and processes a turn of alternating user and assistant messages.
func (b *fixture) turn(messages ...string) Outcome {
	b.t.Helper()
	turn := b.accept(messages...)
	if err := b.processTurn(b.t.Context(), turn.ID); err != nil {
		b.t.Fatal(err)
	}
	return b.outcome(turn.ID)
}

// processTurn processes a turn if it is accepted, whether or not it is due.
func (b *fixture) processTurn(ctx context.Context, turnID string) error {
	b.t.Helper()
	turn, err := b.store.Turn(b.t.Context(), ada.AppID, turnID)
	if err != nil || turn.Status != memory.TurnAccepted {
		return err
	}
	defer b.hold(turnID)()
	return b.process(ctx, turn)
}

func (b *fixture) accept(messages ...string) memory.Turn {
	b.t.Helper()
	turn := memory.Turn{ID: b.turnID(), Owner: ada}
	for i, text := range messages {
		turn.Messages = append(turn.Messages, memory.Message{Role: []string{"user", "assistant"}[i%2], Content: text})
	}
	turn, _, err := b.Accept(b.t.Context(), turn)
	if err != nil {
		b.t.Fatal(err)
	}
	return turn
}

// turnID returns the id of a millisecond in which the fixture has made no other: the messages of two turns of the same
// millisecond are in no certain order.
func (b *fixture) turnID() string {
	for {
		id := memory.NewID()
		if at := id[:len("01a22e7f-e3ca")]; at != b.lastTurn {
			b.lastTurn = at
			return id
		}
	}
}

func (b *fixture) outcome(id string) Outcome {
	b.t.Helper()
	o, err := b.Outcome(b.t.Context(), ada.AppID, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return o
}

func (b *fixture) write(content string, importance float64, at time.Time) write.Written {
	b.t.Helper()
	w, err := b.Write(b.t.Context(), Write{Owner: ada, Content: content, Importance: &importance, At: at, Dedup: true})
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

func (b *fixture) memories() []memory.Memory {
	b.t.Helper()
	list, err := b.store.ListMemories(b.t.Context(), db.MemoryFilter{Owner: ada,
		Statuses: []memory.Status{memory.Active}, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// all returns the user's memories in any status.
func (b *fixture) all() []memory.Memory {
	b.t.Helper()
	list, err := b.store.ListMemories(b.t.Context(), db.MemoryFilter{Owner: ada, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// similar gives two texts embeddings of this cosine.
func (b *fixture) similar(first, second string, cosine float64) {
	one, two := make([]float32, llmtest.Dim), make([]float32, llmtest.Dim)
	one[0] = 1
	two[0], two[1] = float32(cosine), float32(math.Sqrt(1-cosine*cosine))
	b.models.Embedding(first, one)
	b.models.Embedding(second, two)
}

// written is the records of a writer whose transactions run through a spy.
type written struct {
	*sqlite.Store
	spy *spy
}

func (w written) InUser(
	ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error,
) error {
	return w.spy.InUser(ctx, owner, f)
}

// spy records the times to which turns are deferred, and fails in InUser if enter or leave returns an error.
type spy struct {
	Records
	mu    sync.Mutex
	due   time.Time
	enter func() error // called before a user's transaction; nil: nothing
	leave func() error // called at the end of a user's transaction; nil: nothing
}

func (s *spy) DeferTurn(ctx context.Context, turnID string, attempts int, lastError string, due time.Time,
	refused *memory.Candidate) error {
	s.mu.Lock()
	s.due = due
	s.mu.Unlock()
	return s.Records.DeferTurn(ctx, turnID, attempts, lastError, due, refused)
}

func (s *spy) InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error {
	if s.enter != nil {
		if err := s.enter(); err != nil {
			return err
		}
	}
	return s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		err := f(ctx, tx)
		if err == nil && s.leave != nil {
			err = s.leave()
		}
		return err
	})
}

func (b *fixture) deferred() time.Time {
	b.spy.mu.Lock()
	defer b.spy.mu.Unlock()
	return b.spy.due
}
