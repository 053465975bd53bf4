package consolidation

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// An unavailable model costs no attempt; refused answers cost attempts until all are used up.
func TestRunAll_RetriesFailedConsolidations(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.trip("c")
	away := memory.Errorf(memory.KindUnavailable, "the model is unavailable")
	b.chat.OnPrompt(func(llm.Prompt) (string, error) { return "", away })
	ended, err := b.End(t.Context(), "app", "ada", "c", memory.TriggerEnd)
	if err != nil || !ended.Pending() || len(ended.Consolidations) != 3 {
		t.Fatal(ended, err)
	}
	job := ConsolidateConversation{AppID: "app", UserID: "ada", ConversationID: "c", Trigger: memory.TriggerEnd}
	if _, err := b.Work(t.Context(), job); !errors.Is(err, away) {
		t.Fatal(err)
	}
	if _, err := b.RunAll(t.Context()); !errors.Is(err, away) {
		t.Fatal(err)
	}
	b.answers("nonsense", nothing)
	for attempt := 1; attempt <= 4; attempt++ {
		done, err := b.RunAll(t.Context())
		if err != nil || attempt <= 3 != (done.Failed == 1) || (attempt == 1) != (done.Done == 1) {
			t.Errorf("attempt %d: %+v, %v", attempt, done, err)
		}
	}
	list, err := b.store.ListConsolidations(t.Context(),
		db.ConsolidationFilter{Owner: ada, ConversationID: "c", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if c.Type == memory.FastReplay && (c.State != memory.ConsolidationFailed || c.Attempts != 3 ||
			!strings.Contains(c.Error, "no JSON object")) {
			t.Errorf("%+v", c)
		}
	}
}

// A consolidation that one process works on is not started by another, until its lease has expired.
func TestAttempt_RequiresTheClaim(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.trip("c")
	if _, err := b.End(t.Context(), "app", "", "c", memory.TriggerIdle); err != nil {
		t.Fatal(err)
	}
	inside, leave := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		if first.CompareAndSwap(false, true) {
			close(inside)
			<-leave
		}
		if strings.Contains(p.System, "replay") {
			return goodReplay, nil
		}
		return nothing, nil
	})
	var group sync.WaitGroup
	group.Go(func() { b.work("c", memory.TriggerIdle) })
	<-inside
	job := ConsolidateConversation{AppID: "app", UserID: "ada", ConversationID: "c", Trigger: memory.TriggerEnd}
	if _, err := b.Work(t.Context(), job); err == nil || !strings.Contains(err.Error(), "Snooze") {
		t.Errorf("beside another: %v", err)
	}
	b.clock.Advance(2 * time.Minute) // the lease of the first has expired
	if done := b.work("c", memory.TriggerEnd); done.Done != 2 {
		t.Errorf("in its place: %+v", done)
	}
	close(leave)
	group.Wait()
	want(t, "memories", b.memories(), []string{"decision 0.80 Ada takes the night train to Porto.",
		"summary 0.70 The user plans a trip."})
}

func TestOnTurn_EnqueuesAJob(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, false)
	jobs := func() (kinds []string) {
		list, err := b.store.ListJobs(t.Context(), db.JobFilter{Kinds: []string{ConsolidateConversation{}.Kind()},
			Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		of := fmt.Sprintf(`"app_id":"app","user_id":"ada","conversation_id":"c","began":%q,`,
			b.conversation("c").FirstTurnID)
		for _, j := range list {
			kinds = append(kinds, strings.ReplaceAll(string(j.Payload), of, ""))
		}
		return kinds
	}
	hear := func(fill float64, messages ...memory.Message) {
		t.Helper()
		h := b.heard(b.say("c", "", messages...), fill)
		for range 2 { // its processing may be retried
			if err := b.OnTurn(t.Context(), h); err != nil {
				t.Fatal(err)
			}
		}
	}
	hear(0.79, event("", "hello"), event(memory.Observation, "it rains"))
	want(t, "nothing", jobs(), nil)
	hear(0.8, event("", "more of it"))
	hear(0.9, event("", "and more"))
	hear(0.1, event("", "the last of it"), event(memory.Task, "file the tax return"))
	want(t, "jobs", jobs(), []string{`{"trigger":"important","mark":6}`, `{"trigger":"full","mark":0}`})

	// The schedule ends idle conversations, and consolidates open ones.
	b.say("other", "", event(memory.Decision, "We meet on Monday."))
	b.clock.Advance(29 * time.Minute)
	b.say("c", "", event("", "still here"))
	if done, err := b.RunAll(t.Context()); err != nil || done != (Totals{Done: 2}) {
		t.Errorf("%+v, %v", done, err)
	}
	b.clock.Advance(2 * time.Minute)
	if done, err := b.EndIdle(t.Context()); err != nil || done != (Totals{Ended: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	if c := b.conversation("other"); c.EndReason != "idle" || c.ConsolidatedThrough != 1 {
		t.Errorf("%+v", c)
	}
	if c := b.conversation("c"); !c.EndedAt.IsZero() || c.ConsolidatedThrough != 7 {
		t.Errorf("%+v", c)
	}
	if done, err := b.RunAll(t.Context()); err != nil || done != (Totals{}) {
		t.Errorf("again: %+v, %v", done, err)
	}
}

// Stated events that are too many for one consolidation are divided among several.
func TestPlan_SplitsManyEvents(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, false)
	for i := range 5 {
		var messages []memory.Message
		for n := range 100 {
			messages = append(messages, event(memory.Task, fmt.Sprintf("task number %d of list %d", n, i)))
		}
		b.say("c", "", messages...)
	}
	b.work("c", memory.TriggerSchedule)
	var spans []string
	for _, row := range b.rows("c") {
		spans = append(spans, strings.Join(strings.Fields(row)[:4], " "))
	}
	want(t, "rows", spans, []string{"events schedule 1-200 done", "events schedule 201-400 done",
		"events schedule 401-500 done"})
	if c := b.conversation("c"); c.ConsolidatedThrough != 500 {
		t.Errorf("%+v", c)
	}
}
