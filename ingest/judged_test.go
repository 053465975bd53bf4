package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

const (
	judgeMark = "hippocampus/judge"
	beijing   = "The user lives in Beijing"
	shanghai  = "The user moved to Shanghai"
)

// decides makes the judge answer with this text.
func (b *fixture) decides(answer string) {
	b.models.OnPrompt(judgeMark, func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text(answer) })
}

func (b *fixture) stored(id string) memory.Memory {
	b.t.Helper()
	m, err := b.store.Memory(b.t.Context(), ada.AppID, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// searched returns the ids that the vector store finds near a text.
func (b *fixture) searched(content string) (ids []string) {
	b.t.Helper()
	vectors, err := b.Embedder.Embed(b.t.Context(), 0, []string{content})
	if err != nil {
		b.t.Fatal(err)
	}
	hits, err := b.Writer.Vectors.Search(b.t.Context(), vectorstore.Query{Owner: ada, Embedding: vectors[0], Limit: 10})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func TestJudge_ReplacesContradictedMemory(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.similar(beijing, shanghai, 0.9)
	old := b.write(beijing, 0.8, time.Time{}).Memory
	b.clock.Advance(time.Hour)
	var asked string
	b.models.OnPrompt(judgeMark, func(r llmtest.ChatRequest) llmtest.Reply {
		asked = r.User
		return llmtest.Text(`{"decisions":[{"memory":1,"decision":"replace","relation":"contradicts"}]}`)
	})
	b.models.Facts("moved", llmtest.Fact{Fact: shanghai, Importance: 0.9, Domain: memory.Lifestyle})
	got := b.turn("I moved to Shanghai").Candidates
	if len(got) != 1 || got[0].Verdict != memory.Kept || !strings.Contains(got[0].Reason, old.ID) {
		t.Fatalf("candidates %+v", got)
	}
	if !strings.Contains(asked, `"said":"2026-03-01 12:00"`) || !strings.Contains(asked, `"said":"2026-03-01 13:00"`) {
		t.Errorf("the model is not told the dates: %s", asked)
	}
	m := b.stored(old.ID)
	if m.Status != memory.Superseded || m.SupersededBy != got[0].MemoryID || m.Revision != 2 {
		t.Errorf("replaced: %+v", m)
	}
	if ids := b.searched(beijing); len(ids) != 1 || ids[0] != got[0].MemoryID {
		t.Errorf("the vector store has %v", ids)
	}
	relations, err := b.store.Relations(t.Context(), ada.AppID, old.ID)
	if err != nil || len(relations) != 1 || relations[0].From != got[0].MemoryID || relations[0].To != old.ID ||
		relations[0].Kind != memory.Contradicts {
		t.Errorf("relations %+v, %v", relations, err)
	}
	history, err := b.store.History(t.Context(), ada.AppID, old.ID)
	if err != nil || len(history) != 2 || history[1].Kind != memory.EventSuperseded ||
		!strings.Contains(string(history[1].Detail), got[0].MemoryID) {
		t.Errorf("history %+v, %v", history, err)
	}
	if m, err := b.Restore(t.Context(), ada.AppID, old.ID, OfStatement); err != nil || m.Memory.Status != memory.Active ||
		len(b.searched(beijing)) != 2 {
		t.Errorf("restored: %+v, %v", m, err)
	}
}

// A fact that was said before a memory is compared as the earlier one: the memory replaces it, or keeps its wording.
func TestJudge_KeepsTheLaterOfTwoStatements(t *testing.T) {
	t.Parallel()
	for decision, want := range map[string]memory.Verdict{"replace": memory.Kept, "merge": memory.Merged} {
		b := newFixture(t)
		b.similar(shanghai, beijing, 0.9)
		now := b.write(shanghai, 0.8, time.Time{}).Memory
		b.decides(`{"decisions":[{"memory":1,"decision":"` + decision + `"}]}`)
		w := b.write(beijing, 0.8, now.CreatedAt.Add(-24*time.Hour))
		if active := b.memories(); w.Verdict != want || len(active) != 1 || active[0].ID != now.ID ||
			active[0].Content != shanghai || !active[0].CreatedAt.Equal(now.CreatedAt) {
			t.Errorf("%s: %+v, active %+v", decision, w, active)
		}
		outbox, err := b.store.VectorBacklog(t.Context(), nil)
		if err != nil || outbox.Pending+outbox.Removing > 0 {
			t.Errorf("%s: not pushed: %+v, %v", decision, outbox, err)
		}
		if decision == "replace" && (b.stored(w.Memory.ID).SupersededBy != now.ID ||
			!strings.Contains(w.Reason, "said later")) {
			t.Errorf("the earlier statement is %+v: %s", b.stored(w.Memory.ID), w.Reason)
		}
	}
}

func TestJudge_MergesBoth(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	const cat, miso, both = "The user owns a grey cat", "The user has a cat called Miso",
		"The user has a grey cat called Miso"
	b.similar(cat, miso, 0.9)
	old := b.write(cat, 0.9, time.Time{}).Memory
	b.clock.Advance(time.Hour)
	b.decides(`{"decisions":[{"memory":1,"decision":"merge","merged":"` + both + `"}]}`)
	w := b.write(miso, 0.7, time.Time{})
	m := b.stored(old.ID)
	if w.Verdict != memory.Merged || w.Memory.ID != old.ID || m.Content != both || m.Importance != 0.9 ||
		m.Revision != 2 || len(b.memories()) != 1 {
		t.Errorf("%+v, stored %+v", w, m)
	}
	rows, err := b.store.Hydrate(t.Context(), ada, []string{old.ID}, []string{old.ID})
	if err != nil || len(rows) != 1 || !(memory.Dot(rows[0].Embedding, b.embedding(both)) > 0.999) {
		t.Errorf("the merged text is not embedded: %v", err)
	}
}

func (b *fixture) embedding(content string) []float32 {
	b.t.Helper()
	vectors, err := b.Embedder.Embed(b.t.Context(), 0, []string{content})
	if err != nil {
		b.t.Fatal(err)
	}
	return vectors[0]
}

// A memory that changed while the judge decided is left as it is.
func TestJudge_IgnoresJudgementOfOldWording(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.similar(beijing, shanghai, 0.9)
	old := b.write(beijing, 0.8, time.Time{}).Memory
	const edited = "The user was born in Beijing"
	b.models.OnPrompt(judgeMark, func(llmtest.ChatRequest) llmtest.Reply {
		content := edited
		if _, err := b.Change(context.Background(), ada.AppID, old.ID, Change{Content: &content}); err != nil {
			t.Error(err)
		}
		return llmtest.Text(`{"decisions":[{"memory":1,"decision":"replace"}]}`)
	})
	if w := b.write(shanghai, 0.8, time.Time{}); w.Verdict != memory.Kept || b.stored(old.ID).Status != memory.Active ||
		b.stored(old.ID).Content != edited {
		t.Errorf("%+v, stored %+v", w, b.stored(old.ID))
	}
}

// Every kind of bad answer, and an unavailable model, leaves the memory as it
// was, keeps the new one, and is counted.
func TestJudge_BadAnswersChangeNothing(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.similar(beijing, shanghai, 0.9)
	old := b.write(beijing, 0.8, time.Time{}).Memory
	replies := map[string]llmtest.Reply{"away": llmtest.Status(503), "cut": llmtest.Cut(), "limited": llmtest.Status(429)}
	for _, bad := range llmtest.Malformed() {
		replies[bad.Name] = llmtest.Text(bad.Answer)
	}
	for i, answer := range []string{
		`{"decisions":[]}`, `{"decisions":[{"memory":2,"decision":"replace"}]}`,
		`{"decisions":[{"memory":1,"decision":"delete"}]}`,
		`{"decisions":[{"memory":1,"decision":"merge","merged":"The user was convicted of fraud in Lisbon last winter"}]}`,
	} {
		replies[fmt.Sprintf("judge %d", i)] = llmtest.Text(answer)
	}
	count := int64(0)
	for name, reply := range replies {
		b.models.OnPrompt(judgeMark, func(llmtest.ChatRequest) llmtest.Reply { return reply })
		w := b.write(shanghai, 0.8, time.Time{})
		count++
		m := b.stored(old.ID)
		if w.Verdict != memory.Kept || m.Status != memory.Active || m.Content != beijing || m.Revision != 1 ||
			b.Writer.Undecided() != count {
			t.Fatalf("%s: %+v, stored %+v, %d undecided", name, w, m, b.Writer.Undecided())
		}
		if _, err := b.Forget(t.Context(), ada.AppID, w.Memory.ID, OfStatement); err != nil {
			t.Fatal(err)
		}
	}
	if history, err := b.store.History(t.Context(), ada.AppID, old.ID); err != nil || len(history) != 1 || count < 30 {
		t.Errorf("after %d kinds: %+v, %v", count, history, err)
	}
}

// answersBy makes the judge decide about memories by their text, and keep the others.
func answersBy(decisions map[string]string) func(llmtest.ChatRequest) llmtest.Reply {
	return func(r llmtest.ChatRequest) llmtest.Reply {
		var list []string
		for line := range strings.Lines(r.User) {
			var near struct {
				Memory int
				Text   string
			}
			if json.Unmarshal([]byte(line), &near) != nil || near.Memory == 0 {
				continue
			}
			decision := cmp.Or(decisions[near.Text], "keep_both")
			list = append(list, fmt.Sprintf(`{"memory":%d,"decision":%q}`, near.Memory, decision))
		}
		return llmtest.Text(`{"decisions":[` + strings.Join(list, ",") + `]}`)
	}
}

// A replacement may be worded so that it holds what stays true of the old memory.
func TestJudge_ReplacementKeepsWhatStaysTrue(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	const beagle, died, both = "The user has a beagle called Bruno.", "Bruno died in March.",
		"Bruno, the user's beagle, died in March."
	b.similar(beagle, died, 0.9)
	old := b.write(beagle, 0.8, time.Time{}).Memory
	b.clock.Advance(time.Hour)
	b.decides(`{"decisions":[{"memory":1,"decision":"replace","merged":"` + both + `"}]}`)
	w := b.write(died, 0.8, time.Time{})
	if w.Memory.Content != both || b.stored(old.ID).Status != memory.Superseded ||
		!(memory.Dot(b.embedding(both), w.Memory.Embedding) > 0.999) {
		t.Errorf("%+v, the old one is %+v", w, b.stored(old.ID))
	}
	b.decides(`{"decisions":[{"memory":1,"decision":"replace","merged":"Bruno, the beagle of Ada in Oslo, died."}]}`)
	b.similar(both, "Bruno was buried.", 0.9)
	if w := b.write("Bruno was buried.", 0.8, time.Time{}); w.Memory.Content != "Bruno was buried." ||
		b.stored(w.Memory.ID).Status != memory.Active || !strings.Contains(w.Reason, "refused") {
		t.Errorf("an invented wording: %+v", w)
	}
}
