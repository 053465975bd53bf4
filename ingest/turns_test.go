package ingest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
	"hippocampus/tests/apptest"
)

// The model is given the reason why its answer was refused. If it answers badly again, the turn fails at once, since
// the model would give the same answer later.
func TestProcess_FailsAfterACorrectedBadAnswer(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		if r.Call == 2 && !strings.Contains(r.Correction, "no JSON object") {
			t.Errorf("correction %q", r.Correction)
		}
		return llmtest.Text("no JSON at all")
	})
	turn := b.accept("I keep bees")
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	o := b.outcome(turn.ID)
	if o.Turn.Status != memory.TurnFailed || o.Turn.Attempts != 1 ||
		!strings.Contains(o.Turn.LastError, "no JSON object") || len(o.Candidates) != 1 ||
		o.Candidates[0].Verdict != memory.InvalidAnswer || o.Candidates[0].Reason == "" {
		t.Errorf("%+v", o)
	}
	if n := b.models.Chats(); n != 2 || len(b.memories()) != 0 {
		t.Errorf("%d memories after %d questions", len(b.memories()), n)
	}
}

// An endpoint that does not answer in the form of the API may recover.
func TestProcess_RepeatsAnswersThatAreNoneOfTheModel(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Raw("<html>Bad gateway</html>") })
	turn := b.accept("I keep bees")
	for attempt := 1; attempt <= 3; attempt++ {
		if err := b.processTurn(t.Context(), turn.ID); err != nil {
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
		if wait := time.Second << (attempt - 1); attempt < 3 && !b.deferred().Equal(b.clock.Now().Add(wait)) {
			t.Errorf("attempt %d waits until %s, want %s", attempt, b.deferred(), wait)
		}
	}
	if n := b.models.Chats(); n != 3 || len(b.memories()) != 0 {
		t.Errorf("%d memories after %d questions", len(b.memories()), n)
	}
}

// An unavailable endpoint costs no attempt. The turn waits for half its age, and fails when it
// is too old.
func TestProcess_DefersWhileTheModelIsUnavailable(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.SetDown(true)
	turn := b.accept("I keep bees")
	for _, step := range []struct{ pass, wait time.Duration }{
		{0, time.Second}, {10 * time.Second, 5 * time.Second}, {2 * time.Minute, 65 * time.Second}, {time.Hour,
			5 * time.Minute},
	} {
		b.clock.Advance(step.pass)
		if err := b.processTurn(t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
		o := b.outcome(turn.ID)
		if o.Turn.Status != memory.TurnAccepted || o.Turn.Attempts != 0 || o.Turn.LastError == "" || len(o.Candidates) != 0 {
			t.Errorf("after %s: %+v", step.pass, o)
		}
		if got := b.deferred().Sub(b.clock.Now()); got != step.wait {
			t.Errorf("after %s it waits %s, want %s", step.pass, got, step.wait)
		}
	}
	b.clock.Advance(24 * time.Hour)
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnFailed {
		t.Errorf("a day later: %+v", o.Turn)
	}
	b.models.SetDown(false)
	if _, err := b.Replay(t.Context(), ada.AppID, turn.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnProcessed || o.Turn.LastError != "" {
		t.Errorf("replayed: %+v", o.Turn)
	}
}

// overQuota is a scorer whose model the app may ask no more today.
type overQuota struct{ scorer.Scorer }

func (overQuota) Score(context.Context, memory.Turn, []memory.Message) ([]scorer.Fact, error) {
	return nil, apptest.ErrQuota
}

// A turn that waits for tomorrow's quota waits a day longer than others before it fails.
func TestProcess_WaitsADayLongerForTheQuota(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	model := b.Scorer
	b.Scorer = overQuota{model}
	turn := b.accept("I keep bees")
	for _, step := range []struct {
		age  time.Duration
		want memory.TurnStatus
	}{
		{0, memory.TurnAccepted}, {24 * time.Hour, memory.TurnAccepted}, {48*time.Hour - time.Second, memory.TurnAccepted},
		{48 * time.Hour, memory.TurnFailed},
	} {
		b.clock.Advance(turn.QueuedAt.Add(step.age).Sub(b.clock.Now()))
		if err := b.processTurn(t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
		if o := b.outcome(turn.ID); o.Turn.Status != step.want || o.Turn.Attempts != 0 {
			t.Errorf("after %s: %+v", step.age, o.Turn)
		}
	}
	if _, err := b.Replay(t.Context(), ada.AppID, turn.ID); err != nil {
		t.Fatal(err)
	}
	b.Scorer = model
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnProcessed {
		t.Errorf("with a quota again: %+v", o.Turn)
	}
}

func TestProcess_FinishesATurnOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.Facts("bees", llmtest.Fact{Fact: "The user keeps bees", Importance: 0.8, Domain: memory.Lifestyle})
	turn := b.accept("I keep bees")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := b.processTurn(t.Context(), turn.ID); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnProcessed || len(o.Candidates) != 1 || len(b.memories()) != 1 {
		t.Errorf("%+v and %d memories", o, len(b.memories()))
	}
}

func TestAccept_StoresAClientIDOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	turn := memory.Turn{Owner: ada, ClientID: "turn-1", Messages: []memory.Message{{Role: "user", Content: "I keep bees"}}}
	first, fresh, err := b.Accept(t.Context(), turn)
	if err != nil || !fresh {
		t.Fatal(first, fresh, err)
	}
	b.clock.Advance(time.Minute)
	again, fresh, err := b.Accept(t.Context(), turn)
	if err != nil || fresh || again.ID != first.ID {
		t.Errorf("again: %+v %v %v", again, fresh, err)
	}
	turn.Messages[0].Content = "I keep wasps"
	if _, _, err := b.Accept(t.Context(), turn); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("other content under the same client id: %v", err)
	}
}

func TestExcerpt_IsStorable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "(empty)", " \n": "(empty)", "a\x00b": "ab", "\xff": "\uFFFD", strings.Repeat("界", 400): strings.Repeat("界", 333),
	} {
		if got := excerpt(text); got != want {
			t.Errorf("excerpt(%.10q) = %.10q, want %.10q", text, got, want)
		}
	}
}

// A failure other than an unavailable endpoint costs an attempt, and the model is asked once.
func TestProcess_CountsOtherFailuresAsAttempts(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"refused": func() error { return memory.Errorf(memory.KindInvalid, "a constraint") },
		"defect":  func() error { return errors.New("a defect") },
		"panic":   func() error { panic("a panic") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
			b.models.Facts("bees", llmtest.Fact{Fact: "The user keeps bees", Importance: 0.8, Domain: memory.Lifestyle})
			b.spy.enter = fail
			turn := b.accept("I keep bees")
			for attempt := 1; attempt <= 3; attempt++ {
				if err := b.processTurn(t.Context(), turn.ID); err != nil {
					t.Fatal(err)
				}
				if o := b.outcome(turn.ID); o.Turn.Attempts != attempt ||
					(o.Turn.Status == memory.TurnFailed) != (attempt == 3) || o.Turn.LastError == "" {
					t.Errorf("attempt %d: %+v", attempt, o.Turn)
				}
			}
			b.spy.enter = nil
			if _, err := b.Replay(t.Context(), ada.AppID, turn.ID); err != nil {
				t.Fatal(err)
			}
			if err := b.processTurn(t.Context(), turn.ID); err != nil || len(b.memories()) != 1 || b.models.Chats() != 1 {
				t.Errorf("replayed: %v, %d memories after %d questions", err, len(b.memories()), b.models.Chats())
			}
		})
	}
}

// An unavailable embedder costs no attempt and no further call of the scorer.
func TestProcess_AsksTheScorerOnceIfTheEmbedderFails(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.Facts("bees", llmtest.Fact{Fact: "The user keeps bees", Importance: 0.8, Domain: memory.Lifestyle})
	b.models.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return llmtest.Status(503) })
	turn := b.accept("I keep bees")
	for range 5 {
		if err := b.processTurn(t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
	}
	if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnAccepted || o.Turn.Attempts != 0 || b.models.Chats() != 1 {
		t.Errorf("%+v after %d questions", o.Turn, b.models.Chats())
	}
	b.models.OnEmbed(nil)
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnProcessed || o.Turn.Attempts != 1 || len(b.memories()) != 1 {
		t.Errorf("%+v", o)
	}
}

// The age of a replayed turn counts from its replay.
func TestReplay_RestartsTheAgeOfATurn(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.SetDown(true)
	turn := b.accept("I keep bees")
	b.clock.Advance(25 * time.Hour)
	if err := b.processTurn(t.Context(), turn.ID); err != nil || b.outcome(turn.ID).Turn.Status != memory.TurnFailed {
		t.Fatalf("%v %+v", err, b.outcome(turn.ID))
	}
	if _, err := b.Replay(t.Context(), ada.AppID, turn.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.processTurn(t.Context(), turn.ID); err != nil || b.outcome(turn.ID).Turn.Status != memory.TurnAccepted {
		t.Errorf("%v %+v", err, b.outcome(turn.ID).Turn)
	}
}

func TestProcess_RecordsFailureAfterTimeout(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Hang() })
	turn := b.accept("I keep bees")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := b.processTurn(ctx, turn.ID); err != nil {
		t.Fatal(err)
	}
	if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnAccepted || o.Turn.LastError == "" {
		t.Errorf("%+v", o.Turn)
	}
}

// A turn that two workers process stays held until both have ended.
func TestHold_CountsHolders(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	first, second := b.hold("turn"), b.hold("turn")
	first()
	if held := b.holding(); len(held) != 1 {
		t.Errorf("held %v while one worker goes on", held)
	}
	second()
	if held := b.holding(); len(held) != 0 {
		t.Errorf("held %v", held)
	}
}

func TestAwait_ReturnsTheOutcomeOrTheTurnAsItIs(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	turn := b.accept("I keep bees")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if o, err := b.Await(ctx, ada.AppID, turn.ID); err != nil || o.Turn.Status != memory.TurnAccepted {
		t.Errorf("%+v, %v", o, err)
	}
	done := make(chan Outcome, 1)
	go func() {
		o, err := b.Await(t.Context(), ada.AppID, turn.ID)
		if err != nil {
			t.Error(err)
		}
		done <- o
	}()
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	if o := <-done; o.Turn.Status != memory.TurnProcessed {
		t.Errorf("%+v", o)
	}
}
