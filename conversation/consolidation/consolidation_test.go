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

var embedder = llm.Hashed(128)

// Stated events of at least Settings.Importance pass the gate once; those too long and chat do not.
func TestEvents_PassTheGate(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, false)
	mentioned := event(memory.Observation, "The door of the lab is open.") // .4 + .2
	mentioned.Context.MentionedMe = true
	turn := b.say("c", "", event("", "hello"), event(memory.Observation, "it rains"), mentioned,
		event(memory.Task, "Ada files the tax return by Friday."), event(memory.Failure,
			strings.Repeat("x", 4097)), event(memory.Decision, " "))
	private := b.say("c", "helper", event(memory.Decision, "The helper books night trains only."))
	if done := b.work("c", memory.TriggerImportant); done != (Totals{Done: 1}) {
		t.Errorf("%+v", done)
	}
	want(t, "memories", b.memories(), []string{
		"decision 0.80 The helper books night trains only. @helper",
		"observation 0.60 The door of the lab is open.", // under the gate of turns, 0.7
		"task 0.70 Ada files the tax return by Friday.",
	})
	want(t, "rows", b.rows("c"), []string{`events important 1-7 done {"events":5,"kept":3,"merged":0,"refused":2}`})
	var verdicts []string
	for _, id := range []string{turn.ID, private.ID} {
		candidates, err := b.store.TurnCandidates(t.Context(), "app", id)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range candidates {
			verdicts = append(verdicts, fmt.Sprintf("%s %s %.2f %s %.20s", c.Scorer, c.Type, c.Importance, c.Verdict,
				c.Reason))
		}
	}
	want(t, "candidates", verdicts, []string{
		"events observation 0.60 kept nothing like it was ", "events task 0.70 kept nothing like it was ",
		"events error 0.90 invalid it has 4097 characte", "events decision 0.80 invalid it is empty: give 1 ",
		"events decision 0.80 kept nothing like it was ",
	})
	if c := b.conversation("c"); c.ConsolidatedThrough != 7 || !c.EndedAt.IsZero() {
		t.Errorf("%+v", c)
	}
	again := b.say("c", "", event(memory.Task, "Ada files the tax return by Friday."))
	b.work("c", memory.TriggerImportant)
	b.work("c", memory.TriggerFull)
	want(t, "rows", b.rows("c"), []string{
		`events important 1-7 done {"events":5,"kept":3,"merged":0,"refused":2}`,
		`events important 8-8 done {"events":1,"kept":0,"merged":1,"refused":0}`,
	})
	if c := b.conversation("c"); c.ConsolidatedThrough != 8 || again.FirstEvent != 8 {
		t.Errorf("%+v", c)
	}
	b.say("c", "", event("", "and that was all"))
	if done := b.work("c", memory.TriggerFull); done != (Totals{}) || b.conversation("c").ConsolidatedThrough != 9 {
		t.Errorf("chat alone: %+v, %+v", done, b.conversation("c"))
	}
}

// An end has one consolidation, however often and by however many processes it is requested.
func TestEnd_TakesPlaceOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.trip("c")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := b.End(t.Context(), "app", "ada", "c", memory.TriggerEnd); err != nil {
				t.Error(err)
			}
			job := ConsolidateConversation{AppID: "app", UserID: "ada", ConversationID: "c", Trigger: memory.TriggerEnd}
			if _, err := b.Work(t.Context(), job); err != nil && !strings.Contains(err.Error(), "Snooze") {
				t.Error(err)
			}
		})
	}
	group.Wait()
	b.work("c", memory.TriggerEnd)
	rows := []string{
		`deep_reflection end 1-3 done {"facts":0,"memories":0,"merged":0}`,
		`events end 1-3 done {"events":1,"kept":1,"merged":0,"refused":0}`,
		`fast_replay end 1-3 done {"summaries":1}`,
	}
	want(t, "rows", b.rows("c"), rows)
	memories := []string{"decision 0.80 Ada takes the night train to Porto.",
		"summary 0.70 The user plans a trip."}
	want(t, "memories", b.memories(), memories)
	if c := b.conversation("c"); c.EndedAt.IsZero() || c.EndReason != "client" {
		t.Errorf("%+v", c)
	}
	if len(b.chat.Prompts()) != 2 {
		t.Errorf("the model was asked %d times", len(b.chat.Prompts()))
	}
	summary, err := b.store.ListMemories(t.Context(),
		db.MemoryFilter{Owner: ada, Types: []memory.Type{"summary"}, ConversationID: "c", Limit: 1})
	if err != nil || len(summary) != 1 {
		t.Fatal(summary, err)
	}
	history, err := b.store.History(t.Context(), "app", summary[0].ID)
	if err != nil || len(history) != 1 || !strings.HasPrefix(history[0].Cause, "consolidation ") ||
		!strings.HasSuffix(history[0].Cause, " of conversation c") {
		t.Errorf("%+v, %v", history, err)
	}

	// Two more messages are too few, with a third there is another one.
	b.say("c", "", event("", "one"), event("", "two"))
	b.end("c")
	want(t, "rows after two messages", b.rows("c"), rows)
	b.say("c", "", event("", "three"))
	b.end("c")
	want(t, "rows after three", b.rows("c"), append([]string{
		`deep_reflection end 1-3 done {"facts":0,"memories":0,"merged":0}`,
		`deep_reflection end 4-6 done {"facts":0,"memories":0,"merged":0}`, rows[1], rows[2],
	}, `fast_replay end 4-6 done {"summaries":1}`))
}

// Findings of a deep reflection become facts and memories; similar ones are merged with the higher importance.
func TestDeepReflection_StoresFactsAndMemories(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.say("before", "", event(memory.Task, "The user always practises the oboe before breakfast."))
	b.work("before", memory.TriggerSchedule)
	b.trip("c")
	b.answers(goodReplay, `{"facts":[{"type":"Profile","key":"Home City","value":"Porto","confidence":0.9}],
		"insights":[{"text":"The user travels by night.","level":"high"},
			{"text":"The user likes rivers.","level":"medium"},
			{"text":"The user saves money.","level":"low"}],
		"preferences":[{"text":"The user likes green tea.","importance":0.3},
			{"text":"The user likes green tea!","importance":0.6}],
		"patterns":[{"text":"The user always practises the oboe before breakfast!","importance":0.9}],
		"projects":[{"text":"The user is writing an opera.","importance":0.75}],
		"skills":[{"text":"The user reads scores at sight.","importance":0.5}]}`)
	b.end("c")
	want(t, "memories", b.memories(), []string{
		"decision 0.80 Ada takes the night train to Porto.", "fact 0.83 The user's home city is Porto.",
		"insight 0.40 The user saves money.", "insight 0.70 The user likes rivers.",
		"insight 1.00 The user travels by night.",
		"preference 0.60 The user likes green tea.", "project 0.75 The user is writing an opera.",
		"skill 0.50 The user reads scores at sight.",
		"summary 0.70 The user plans a trip.", "task 0.90 The user always practises the oboe before breakfast.",
	})
	want(t, "rows", b.rows("c")[:1], []string{`deep_reflection end 1-3 done {"facts":1,"memories":6,"merged":2}`})
	found, err := b.store.ListFacts(t.Context(), db.FactFilter{Owner: ada, At: b.clock.Now(), Limit: 10})
	if err != nil || len(found) != 1 || found[0].Type != "profile" || found[0].Key != "home_city" ||
		found[0].Source != "conversation c" {
		t.Errorf("%+v, %v", found, err)
	}
}

// Summaries, insights and facts of one agent stay private to it.
func TestEnd_KeepsAgentsApart(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.say("c", "doctor", event("", "My doctor says I am allergic to nuts."), event("", "Really."))
	b.say("c", "", event("", "I live in Porto."))
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		mine, replay := strings.Contains(p.User, "nuts"), strings.Contains(p.System, "replay")
		if mine == strings.Contains(p.User, "Porto") {
			t.Errorf("the model sees both: %s", p.User)
		}
		switch {
		case mine && replay:
			return `{"summary":"The user is allergic to nuts."}`, nil
		case replay:
			return `{"summary":"The user lives in Porto."}`, nil
		case mine:
			return strings.Replace(nothing, `"facts":[]`,
				`"facts":[{"type":"health","key":"allergy","value":"nuts","confidence":0.9}]`, 1), nil
		}
		return strings.Replace(nothing, `"facts":[]`,
			`"facts":[{"type":"profile","key":"city","value":"Porto","confidence":0.9}]`, 1), nil
	})
	b.end("c")
	want(t, "memories", b.memories(), []string{
		"fact 0.83 The user's city is Porto.", "fact 0.83 The user's health allergy is nuts. @doctor",
		"summary 0.70 The user is allergic to nuts. @doctor",
		"summary 0.70 The user lives in Porto.",
	})
}

// Without a model an end stores the most important sentences, and has no reflection.
func TestEnd_WithoutAModel(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, false)
	b.trip("c")
	b.end("c")
	want(t, "rows", b.rows("c"), []string{
		"deep_reflection end 1-3 skipped ", `events end 1-3 done {"events":1,"kept":1,"merged":0,"refused":0}`,
		`fast_replay end 1-3 done {"summaries":1}`,
	})
	want(t, "memories", b.memories(), []string{
		"decision 0.80 Ada takes the night train to Porto.",
		"summary 0.70 I want to go to Porto in May. Shall I look for trains? Ada takes the night train to Porto.",
	})
	b.say("blank", "", event("", " "), event("", ""), event("", strings.Repeat("很长", 101)))
	b.end("blank")
	want(t, "rows", b.rows("blank"), []string{"deep_reflection end 1-3 skipped ", "fast_replay end 1-3 skipped "})
}

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
	hear(0.8, event("", "more"))
	hear(0.9, event("", "more"))
	hear(0.1, event("", "more"), event(memory.Task, "file the tax return"))
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

// Several consolidations share the stated events that are too many for one.
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
