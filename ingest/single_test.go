package ingest

import (
	"strings"
	"testing"
	"time"

	"hippocampus/ingest/write"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// Without a model, a later statement replaces an earlier one about a single attribute. The replaced memory
// stays readable, says why, and can be restored.
func TestRules_ReplaceASingleAttribute(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Writer.Judge = nil
	const porto, braga = "I live in Porto, near the river.", "We moved to Braga last month."
	b.similar(porto, braga, 0.1)
	old := b.write(porto, 0.8, time.Time{}).Memory
	b.clock.Advance(time.Hour)
	b.models.Facts("Braga", llmtest.Fact{Fact: braga, Importance: 0.9, Domain: memory.Lifestyle})
	got := b.turn(braga).Candidates
	if len(got) != 1 || got[0].Verdict != memory.Kept || !strings.Contains(got[0].Reason, "one home at a time") ||
		!strings.Contains(got[0].Reason, old.ID) {
		t.Fatalf("candidates %+v", got)
	}
	if m := b.stored(old.ID); m.Status != memory.Superseded || m.SupersededBy != got[0].MemoryID {
		t.Errorf("replaced: %+v", m)
	}
	history, err := b.store.History(t.Context(), ada.AppID, old.ID)
	if err != nil || len(history) != 2 || history[1].Kind != memory.EventSuperseded ||
		!strings.Contains(string(history[1].Detail), "one home at a time") {
		t.Errorf("history %+v, %v", history, err)
	}
	if m, err := b.Restore(t.Context(), ada.AppID, old.ID, OfStatement); err != nil || m.Memory.Status != memory.Active {
		t.Errorf("restored: %+v, %v", m, err)
	}
}

// A value replaces one that was stated in another language, unless both are names of the same place.
func TestRules_ReplaceAcrossLanguages(t *testing.T) {
	t.Parallel()
	b := newTalk(t)
	b.tell("I moved to Lisbon.", "我住在杭州。", "I live in Hangzhou.", "我搬到了里斯本。")
	b.wantFacts("told", map[string]string{
		"I moved to Lisbon.": "superseded", "我住在杭州。": "superseded", "I live in Hangzhou.": "superseded",
		"我搬到了里斯本。": "active",
	})
	if m := b.named(memory.Superseded, "fact: 我住在杭州"); m.SupersededBy != b.named(memory.Active, "fact: 我搬到了里斯本").ID {
		t.Errorf("%q is superseded by another statement of the same home: %+v", m.Content, m)
	}
}

// A statement counts as of when it was said, not of when it arrived.
func TestRules_KeepTheLaterOfTwoStatements(t *testing.T) {
	t.Parallel()
	for _, together := range []bool{false, true} {
		dedup := !together // rules compare what is written as given too
		b := newFixture(t)
		b.Writer.Judge = nil
		now, before := b.clock.Now(), b.clock.Now().Add(-24*time.Hour)
		writes := []Write{{Owner: ada, Content: "I live in Braga.", At: now, Dedup: dedup},
			{Owner: ada, Content: "I live in Porto.", At: before, Dedup: dedup}}
		var results []BatchResult
		if together {
			results = b.WriteBatch(t.Context(), writes)
		} else {
			for _, w := range writes {
				results = append(results, b.WriteBatch(t.Context(), []Write{w})...)
			}
		}
		later, earlier := results[0].Written, results[1].Written
		m := b.stored(earlier.Memory.ID)
		if m.Status != memory.Superseded || m.SupersededBy != later.Memory.ID ||
			earlier.Memory.Status != memory.Superseded || !strings.Contains(earlier.Reason, "said later") ||
			b.stored(later.Memory.ID).Status != memory.Active {
			t.Errorf("together %v: stored %+v, written %+v", together, m, earlier)
		}
		if ids := b.searched("I live in Porto."); len(ids) != 1 || ids[0] != later.Memory.ID {
			t.Errorf("together %v: the vector store has %v", together, ids)
		}
		if restored, err := b.Restore(t.Context(), ada.AppID, m.ID, OfStatement); err != nil ||
			restored.Memory.Status != memory.Active {
			t.Errorf("together %v: restored %+v, %v", together, restored, err)
		}
	}
}

// A memory that a client writes as given is one of its own, whatever says the same. It replaces what it contradicts by
// rules, and the judge is not asked.
func TestRules_CompareWhatIsWrittenAsGiven(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.models.OnPrompt(judgeMark, func(llmtest.ChatRequest) llmtest.Reply {
		t.Error("the judge is asked")
		return llmtest.Status(500)
	})
	give := func(w Write) write.Written {
		t.Helper()
		b.clock.Advance(time.Hour)
		w.Owner = ada
		written, err := b.Write(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	given := func(content string) write.Written { return give(Write{Content: content}) }
	tea, porto, again := given("Likes tea."), given("I live in Porto."), given("I live in Porto.")
	if tea.Verdict != memory.Kept || again.Verdict != memory.Kept || again.Memory.ID == porto.Memory.ID {
		t.Errorf("written as given: %+v, %+v", porto, again)
	}
	braga := given("I live in Braga now.")
	if !strings.Contains(braga.Reason, "one home at a time") {
		t.Errorf("the reason is %q", braga.Reason)
	}
	faro := give(Write{Content: "I live in Faro now.", Alone: true})
	for id, want := range map[string]memory.Status{
		faro.Memory.ID: memory.Active, tea.Memory.ID: memory.Active, porto.Memory.ID: memory.Superseded,
		again.Memory.ID: memory.Superseded,
		braga.Memory.ID: memory.Active,
	} {
		if m := b.stored(id); m.Status != want {
			t.Errorf("%q is %s, want %s", m.Content, m.Status, want)
		}
	}
}

// Of three statements in one batch, each replaces the one said before.
func TestRules_ReplaceWithinABatch(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.Writer.Judge = nil
	var writes []Write
	for i, content := range []string{"I'm 61.", "I'm 62 now.", "I just turned 63."} {
		writes = append(writes, Write{Owner: ada, Content: content, At: begin.AddDate(i, 0, 0), Dedup: true})
	}
	b.clock.Advance(4 * 365 * 24 * time.Hour)
	for _, r := range b.WriteBatch(t.Context(), writes) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if active := b.memories(); len(active) != 1 || active[0].Content != writes[2].Content {
		t.Errorf("active: %+v", active)
	}
}

// An ending, and an opposite attitude, replace the statement that they end, and each says why.
func TestRules_ReplaceWhatHasEnded(t *testing.T) {
	t.Parallel()
	for earlier, test := range map[string]struct{ later, why string }{
		"I smoke about ten cigarettes a day.": {"I quit smoking.", "says that this has ended"},
		"I work at Siemens.":                  {"I left Siemens in May.", "says that this has ended"},
		"I quit smoking in May.":              {"I've started smoking again.", "says that this has begun again"},
		"I love jazz.":                        {"I hate jazz now.", "takes the opposite attitude"},
		"My favourite colour is blue.":        {"My favourite colour is green.", "one favourite of a kind"},
		"我每天抽一包烟。":                            {"我戒烟了。", "says that this has ended"},
		"I love Porto.":                       {"I no longer live in Porto.", ""},
	} {
		b := newFixture(t)
		b.Writer.Judge = nil
		b.similar(earlier, test.later, 0.1)
		old := b.write(earlier, 0.8, time.Time{}).Memory
		b.clock.Advance(time.Hour)
		got := b.WriteBatch(t.Context(), []Write{{Owner: ada, Content: test.later, Dedup: true}})[0].Written
		status := memory.Superseded
		if test.why == "" {
			status = memory.Active
		}
		if m := b.stored(old.ID); m.Status != status || !strings.Contains(got.Reason, test.why) {
			t.Errorf("%s, then %s: %s, %s", earlier, test.later, m.Status, got.Reason)
		}
	}
}
