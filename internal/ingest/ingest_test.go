package ingest

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/internal/projection"
	"hippocampus/scorer"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/sqlitevec"
)

var ada = memory.Owner{AppID: "app", UserID: "ada"}

// bench is a service on real SQLite stores, a scripted model and a clock that
// the test moves.
type bench struct {
	*Service
	t      *testing.T
	models *llmtest.Server
	store  *sqlite.Store
	mu     sync.Mutex
	clock  time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	ctx := t.Context()
	b := &bench{t: t, models: llmtest.New(t), clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	var err error
	if b.store, err = sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(t.TempDir(), "hippocampus.db")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.store.Close() })
	if err := b.store.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	client := llm.NewClient(llm.Options{BaseURL: b.models.URL(), Retries: -1, BreakerFailures: 1000})
	t.Cleanup(client.Close)
	embedder, err := client.Embedder(ctx, llm.EmbedderOptions{Model: "scripted"})
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := sqlitevec.Open(ctx, sqlitevec.Options{
		Path: filepath.Join(t.TempDir(), "vectors.db"), Space: vectorstore.Space{Model: embedder.Model(), Dim: embedder.Dim()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = vectors.Close() })
	log := zaptest.NewLogger(t)
	b.Service = New(Parts{
		Records: &spy{Records: b.store}, Scorer: scorer.NewLLM(client.Chat("scripted")), Embedder: embedder, Vectors: vectors,
		Pusher: projection.New(b.store, vectors, projection.Settings{Lease: time.Minute, Backoff: time.Second, BackoffLimit: time.Minute}, b.now, log),
		Guess:  func(string) memory.Domain { return memory.GeneralChat }, Now: b.now, Log: log,
	}, Settings{
		Threshold: 0.7, EchoWindow: 10 * time.Minute, MergeSimilarity: 0.95, OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 100,
		Attempts: 3, RetryDelay: time.Second, RetryLimit: 5 * time.Minute, GiveUp: 24 * time.Hour, Lease: time.Minute, ResumeAfter: time.Hour,
	})
	return b
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = b.clock.Add(d)
}

// turn accepts and processes a turn of alternating user and assistant messages.
func (b *bench) turn(messages ...string) Outcome {
	b.t.Helper()
	turn := b.accept(messages...)
	if err := b.Process(b.t.Context(), turn.ID); err != nil {
		b.t.Fatal(err)
	}
	return b.outcome(turn.ID)
}

func (b *bench) accept(messages ...string) memory.Turn {
	b.t.Helper()
	turn := memory.Turn{Owner: ada}
	for i, text := range messages {
		turn.Messages = append(turn.Messages, memory.Message{Role: []string{"user", "assistant"}[i%2], Content: text})
	}
	turn, _, err := b.Accept(b.t.Context(), turn)
	if err != nil {
		b.t.Fatal(err)
	}
	return turn
}

func (b *bench) outcome(id string) Outcome {
	b.t.Helper()
	o, err := b.Outcome(b.t.Context(), ada.AppID, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return o
}

func (b *bench) write(content string, importance float64, at time.Time) Written {
	b.t.Helper()
	w, err := b.Write(b.t.Context(), Write{Owner: ada, Content: content, Importance: &importance, At: at, Dedup: true})
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

func (b *bench) memories() []memory.Memory {
	b.t.Helper()
	list, err := b.store.ListMemories(b.t.Context(), db.MemoryFilter{Owner: ada, Statuses: []memory.Status{memory.Active}, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// similar gives two texts embeddings of this cosine.
func (b *bench) similar(first, second string, cosine float64) {
	one, two := make([]float32, llmtest.Dim), make([]float32, llmtest.Dim)
	one[0] = 1
	two[0], two[1] = float32(cosine), float32(math.Sqrt(1-cosine*cosine))
	b.models.Embedding(first, one)
	b.models.Embedding(second, two)
}

func TestAnEchoIsNoNewFact(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	known := b.write("The user lives in Lisbon near the old harbour", 0.8, time.Time{}).Memory
	const repeated = "The user lives near the old harbour of Lisbon"
	b.models.Facts("harbour", llmtest.Fact{Fact: repeated, Importance: 0.9, Domain: memory.Lifestyle})
	b.similar(known.Content, repeated, 0.9) // too far to be merged

	b.pass(time.Hour)
	if err := b.store.Touch(t.Context(), []db.Touch{{ID: known.ID, Count: 1, At: b.now()}}); err != nil {
		t.Fatal(err)
	}
	b.pass(time.Second)
	echoed := b.turn("What can I do tonight?", "Since you live near the old harbour of Lisbon, take a walk there.").Candidates
	if len(echoed) != 1 || echoed[0].Verdict != memory.Echo || echoed[0].MemoryID != known.ID || echoed[0].Reason == "" {
		t.Errorf("the assistant's echo became %+v", echoed)
	}
	said := b.turn("I live near the old harbour of Lisbon", "Lovely.").Candidates
	if len(said) != 1 || said[0].Verdict != memory.Kept {
		t.Errorf("the user's own words became %+v", said)
	}
	b.pass(time.Hour)
	late := b.turn("And tonight?", "Near the old harbour of Lisbon, where you live, there is a fair.").Candidates
	if len(late) != 1 || late[0].Verdict != memory.Duplicate {
		t.Errorf("long after the recall it became %+v", late)
	}
}

func TestMergingKeepsTheNewerWordingAndTheHigherImportance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const old, newer = "Ada drinks tea", "Ada drinks green tea daily"
	b.similar(old, newer, 0.96)
	first := b.write(old, 0.9, time.Time{})
	b.pass(time.Hour)
	second := b.write(newer, 0.8, time.Time{})
	if second.Verdict != memory.Merged || second.Memory.ID != first.Memory.ID {
		t.Fatalf("merged into %+v", second)
	}
	got := b.memories()
	if len(got) != 1 || got[0].Content != newer || got[0].Importance != 0.9 || got[0].Revision != 2 || !got[0].CreatedAt.Equal(first.Memory.CreatedAt) {
		t.Errorf("memories %+v", got)
	}
	history, err := b.store.History(t.Context(), ada.AppID, first.Memory.ID)
	if err != nil || len(history) != 2 || history[1].Kind != memory.EventMerged ||
		!strings.Contains(string(history[1].Detail), old) || !strings.Contains(string(history[1].Detail), newer) {
		t.Errorf("history %+v, %v", history, err)
	}

	// Told late: an older wording raises the importance, and that is all.
	const older = "Ada started to drink tea"
	b.models.Embedding(older, b.models.Vector(newer))
	w := b.write(older, 0.95, first.Memory.CreatedAt.Add(-24*time.Hour))
	if got := b.memories(); w.Verdict != memory.Merged || got[0].Content != newer || got[0].Importance != 0.95 {
		t.Errorf("after an older wording %+v: %+v", w, got[0])
	}
}

func TestUnderTheMergeSimilarityBothStay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.similar("Ada drinks tea", "Ada drinks coffee", 0.94)
	b.write("Ada drinks tea", 0.8, time.Time{})
	if w := b.write("Ada drinks coffee", 0.8, time.Time{}); w.Verdict != memory.Kept || len(b.memories()) != 2 {
		t.Errorf("%+v", w)
	}
}

func TestTheSameWordsAreADuplicate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.write("Ada drinks tea", 0.8, time.Time{})
	again := b.write("Ada drinks tea", 0.7, time.Time{})
	if again.Verdict != memory.Duplicate || again.Memory.ID != first.Memory.ID || again.Memory.Revision != 1 {
		t.Errorf("%+v", again)
	}
	if history, _ := b.store.History(t.Context(), ada.AppID, first.Memory.ID); len(history) != 1 {
		t.Errorf("a duplicate that adds nothing is no event: %+v", history)
	}
	if raised := b.write("Ada drinks tea", 0.95, time.Time{}); raised.Memory.Importance != 0.95 {
		t.Errorf("%+v", raised)
	}
}

func TestFactsOfOneAnswerAreMergedToo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.similar("The user keeps bees", "The user is a beekeeper", 0.97)
	b.models.Facts("bees", llmtest.Fact{Fact: "The user keeps bees", Importance: 0.8, Domain: memory.Lifestyle},
		llmtest.Fact{Fact: "The user is a beekeeper", Importance: 0.9, Domain: memory.Lifestyle})
	got := b.turn("I keep bees").Candidates
	if len(got) != 2 || got[0].Verdict != memory.Kept || got[1].Verdict != memory.Merged || got[1].MemoryID != got[0].MemoryID {
		t.Errorf("candidates %+v", got)
	}
	if m := b.memories(); len(m) != 1 || m[0].Content != "The user is a beekeeper" || m[0].Importance != 0.9 {
		t.Errorf("memories %+v", m)
	}
}

func TestBadAnswersFailATurnAfterAttempts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("no JSON at all") })
	turn := b.accept("I keep bees")
	for attempt := 1; attempt <= 3; attempt++ {
		if err := b.Process(t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
		o := b.outcome(turn.ID)
		want := memory.TurnAccepted
		if attempt == 3 {
			want = memory.TurnFailed
		}
		if o.Turn.Status != want || o.Turn.Attempts != attempt || len(o.Candidates) != attempt || o.Turn.LastError == "" {
			t.Errorf("attempt %d: %+v", attempt, o)
		}
		if wait := time.Second << (attempt - 1); attempt < 3 && !b.deferred().Equal(b.now().Add(wait)) {
			t.Errorf("attempt %d waits until %s, want %s", attempt, b.deferred(), wait)
		}
	}
	if n := b.models.Chats(); n != 3 {
		t.Errorf("the model was asked %d times", n)
	}
	if len(b.memories()) != 0 {
		t.Error("bad answers made memories")
	}
}

// An endpoint that is away costs no attempt; the turn waits for half its age,
// and fails when it is too old.
func TestAModelThatIsAwayMakesTheTurnWait(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.models.SetDown(true)
	turn := b.accept("I keep bees")
	for _, step := range []struct{ pass, wait time.Duration }{
		{0, time.Second}, {10 * time.Second, 5 * time.Second}, {2 * time.Minute, 65 * time.Second}, {time.Hour, 5 * time.Minute},
	} {
		b.pass(step.pass)
		if err := b.Process(t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
		o := b.outcome(turn.ID)
		if o.Turn.Status != memory.TurnAccepted || o.Turn.Attempts != 0 || o.Turn.LastError == "" || len(o.Candidates) != 0 {
			t.Errorf("after %s: %+v", step.pass, o)
		}
		if got := b.deferred().Sub(b.now()); got != step.wait {
			t.Errorf("after %s it waits %s, want %s", step.pass, got, step.wait)
		}
	}
	b.pass(24 * time.Hour)
	if err := b.Process(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnFailed {
		t.Errorf("a day later: %+v", o.Turn)
	}
	b.models.SetDown(false)
	if _, err := b.Replay(t.Context(), ada.AppID, turn.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Process(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnProcessed || o.Turn.LastError != "" {
		t.Errorf("replayed: %+v", o.Turn)
	}
}

// Several workers with the same turn: one finishes it.
func TestATurnIsFinishedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.models.Facts("bees", llmtest.Fact{Fact: "The user keeps bees", Importance: 0.8, Domain: memory.Lifestyle})
	turn := b.accept("I keep bees")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := b.Process(t.Context(), turn.ID); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnProcessed || len(o.Candidates) != 1 || len(b.memories()) != 1 {
		t.Errorf("%+v and %d memories", o, len(b.memories()))
	}
}

func TestAClientIDIsOneTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	turn := memory.Turn{Owner: ada, ClientID: "turn-1", Messages: []memory.Message{{Role: "user", Content: "I keep bees"}}}
	first, fresh, err := b.Accept(t.Context(), turn)
	if err != nil || !fresh {
		t.Fatal(first, fresh, err)
	}
	b.pass(time.Minute)
	again, fresh, err := b.Accept(t.Context(), turn)
	if err != nil || fresh || again.ID != first.ID {
		t.Errorf("again: %+v %v %v", again, fresh, err)
	}
	turn.Messages[0].Content = "I keep wasps"
	if _, _, err := b.Accept(t.Context(), turn); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("other content under the same client id: %v", err)
	}
}

func TestExcerptsFitAColumn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "(empty)", " \n": "(empty)", "a\x00b": "ab", "\xff": "\uFFFD", strings.Repeat("界", 400): strings.Repeat("界", 333),
	} {
		if got := excerpt(text); got != want {
			t.Errorf("excerpt(%.10q) = %.10q, want %.10q", text, got, want)
		}
	}
}

// spy notes when turns are deferred to.
type spy struct {
	Records
	mu  sync.Mutex
	due time.Time
}

func (s *spy) DeferTurn(ctx context.Context, turnID string, attempts int, lastError string, due time.Time, refused *memory.Candidate) error {
	s.mu.Lock()
	s.due = due
	s.mu.Unlock()
	return s.Records.DeferTurn(ctx, turnID, attempts, lastError, due, refused)
}

func (b *bench) deferred() time.Time {
	spy := b.Records.(*spy)
	spy.mu.Lock()
	defer spy.mu.Unlock()
	return spy.due
}
