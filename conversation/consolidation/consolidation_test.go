package consolidation

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

var embedder = llm.Hashed(128)

// Stated events of at least Settings.Importance pass the gate once. Events that are too long, and chat, do not.
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

	// Two more messages are too few for another consolidation; with a third message there is one.
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
		"summary 0.70 - 2026-03-01, user: I want to go to Porto in May.\n" +
			"- 2026-03-01, assistant: Shall I look for trains?\n- 2026-03-01, user: Ada takes the night train to Porto.",
	})
	b.say("blank", "", event("", " "), event("", ""), event("", strings.Repeat("很长", 101)))
	b.end("blank")
	want(t, "rows", b.rows("blank"), []string{"deep_reflection end 1-3 skipped ", "fast_replay end 1-3 skipped "})
}
