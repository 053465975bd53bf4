package consolidation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// states lists the states of a conversation's consolidations by type.
func (b *fixture) states(id string) map[memory.ConsolidationType]memory.ConsolidationState {
	b.t.Helper()
	list, err := b.store.ListConsolidations(context.Background(),
		db.ConsolidationFilter{Owner: ada, ConversationID: id, Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	states := map[memory.ConsolidationType]memory.ConsolidationState{}
	for _, c := range list {
		states[c.Type] = c.State
	}
	return states
}

// If the endpoint rejects the content of one conversation as if it were unavailable, the other conversations continue,
// and that conversation fails in the end.
func TestRunAll_ContinuesAfterARefusedConversation(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	for _, id := range []string{"refused", "fine"} {
		b.say(id, "", event("", id+" one"), event("", id+" two"), event("", id+" three"))
		if _, err := b.End(t.Context(), "app", "ada", id, memory.TriggerEnd); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(time.Second)
	}
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		switch {
		case strings.Contains(p.User, "refused"):
			return "", memory.Errorf(memory.KindUnavailable, "status 400: the content is inappropriate")
		case strings.Contains(p.System, "[hippocampus/replay]"):
			return goodReplay, nil
		}
		return nothing, nil
	})
	done, err := b.RunAll(t.Context())
	if !memory.IsKind(err, memory.KindUnavailable) || done != (Totals{Done: 2}) {
		t.Errorf("%+v, %v", done, err)
	}
	if got := b.states("refused"); got[memory.FastReplay] != memory.ConsolidationPending {
		t.Errorf("on the first day: %v", got)
	}
	b.clock.Advance(graceAge)
	for range defaults.Attempts {
		if done, err := b.RunAll(t.Context()); err != nil || done != (Totals{Failed: 2}) {
			t.Errorf("later: %+v, %v", done, err)
		}
	}
	if done, err := b.RunAll(t.Context()); err != nil || done != (Totals{}) {
		t.Errorf("given up: %+v, %v", done, err)
	}
}

// If the model is unavailable, a run does not ask it about every conversation.
func TestRunAll_StopsIfTheModelIsUnavailable(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	for i := range maxUnavailable {
		b.say(fmt.Sprint(i), "", event("", "one"), event("", "two"), event("", "three"))
		if _, err := b.End(t.Context(), "app", "ada", fmt.Sprint(i), memory.TriggerEnd); err != nil {
			t.Fatal(err)
		}
	}
	b.chat.OnPrompt(func(llm.Prompt) (string, error) { return "", memory.Errorf(memory.KindUnavailable, "away") })
	if _, err := b.RunAll(t.Context()); !memory.IsKind(err, memory.KindUnavailable) ||
		len(b.chat.Prompts()) != maxUnavailable {
		t.Errorf("asked %d times about %d consolidations: %v", len(b.chat.Prompts()), 2*maxUnavailable, err)
	}
}

// A conversation that was deleted and started again is consolidated, even if it ends with the same event number.
func TestEnd_AfterAFurtherTurn(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, false)
	jobs := func() int {
		list, err := b.store.ListJobs(t.Context(), db.JobFilter{Kinds: []string{ConsolidateConversation{}.Kind()},
			Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	for life := 1; life <= 2; life++ {
		b.trip("c")
		turn := b.say("c", "", event(memory.Task, "file the tax return"))
		for range 2 {
			if err := b.OnTurn(t.Context(), b.heard(turn, 0.9)); err != nil {
				t.Fatal(err)
			}
			b.end("c")
		}
		if n := jobs(); n != 2*life {
			t.Errorf("life %d: %d jobs, want %d", life, n, 2*life)
		}
		if _, err := b.store.DeleteConversation(t.Context(), ada, "c"); err != nil {
			t.Fatal(err)
		}
	}
}

// tasks is a turn of n stated events.
func tasks(of string, n int) (messages []memory.Message) {
	for i := range n {
		messages = append(messages, event(memory.Task, fmt.Sprintf("task %d of %s", i, of)))
	}
	return messages
}

// An end plans all stated events, however many there are.
func TestEnd_OfManyEvents(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, false)
	for i := range 5 {
		b.say("c", "", tasks(fmt.Sprint("list ", i), 100)...)
	}
	b.end("c")
	if c := b.conversation("c"); c.ConsolidatedThrough != 500 {
		t.Errorf("%+v, %q", c, b.rows("c"))
	}
}

// refusing is a writer that fails for poisoned content.
type refusing struct{ Writer }

func (r refusing) Consolidate(ctx context.Context, c ingest.Consolidation) (ingest.Consolidated, error) {
	if slices.ContainsFunc(c.Stated, func(s ingest.Stated) bool { return strings.Contains(s.Fact.Content, "poison") }) {
		return ingest.Consolidated{}, memory.Errorf(memory.KindBadAnswer, "a vector has length zero")
	}
	return r.Writer.Consolidate(ctx, c)
}

// Events that cannot be consolidated do not block later ones.
func TestEnd_AfterFailedEvents(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, false)
	b.Writer = refusing{b.Writer}
	b.say("c", "", tasks("poison", 100)...)
	b.say("c", "", tasks("more", 100)...)
	b.say("c", "", tasks("late", 1)...)
	for range 5 {
		if _, err := b.RunAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if c := b.conversation("c"); c.ConsolidatedThrough != 201 || len(b.memories()) != 1 {
		t.Errorf("through %d: %q, %q", c.ConsolidatedThrough, b.memories(), b.rows("c"))
	}
}

// interrupted runs a function after idle conversations were listed, and fails to read one conversation.
type interrupted struct {
	Records
	after  func()
	broken string
}

func (r interrupted) Idle(ctx context.Context, before time.Time, limit int) ([]memory.Conversation, error) {
	idle, err := r.Records.Idle(ctx, before, limit)
	if r.after != nil {
		r.after()
	}
	return idle, err
}

func (r interrupted) ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64,
	limit int) ([]memory.Turn, error) {
	if id == r.broken {
		return nil, errors.New("its messages cannot be read")
	}
	return r.Records.ConversationTurns(ctx, owner, id, after, limit)
}

// A conversation that cannot be ended does not block the others.
func TestEndIdle_ContinuesAfterAFailure(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, false)
	b.trip("broken")
	b.clock.Advance(time.Second)
	b.trip("fine")
	b.clock.Advance(time.Hour)
	b.Records = interrupted{Records: b.Records, broken: "broken"}
	if done, err := b.EndIdle(t.Context()); err == nil || done != (Totals{Ended: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	if b.conversation("fine").EndReason != "idle" || b.conversation("broken").EndReason != "" {
		t.Error("the wrong one has ended")
	}
}

// A conversation with a turn at the last moment is not idle.
func TestEndIdle_SkipsAConversationThatContinues(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, false)
	b.trip("c")
	b.clock.Advance(time.Hour)
	b.Records = interrupted{Records: b.Records, after: func() { b.say("c", "", event("", "I am back.")) }}
	if done, err := b.EndIdle(t.Context()); err != nil || done != (Totals{}) {
		t.Errorf("%+v, %v", done, err)
	}
	if c := b.conversation("c"); !c.EndedAt.IsZero() || len(b.rows("c")) != 0 {
		t.Errorf("%+v, %q", c, b.rows("c"))
	}
}
