package recall

import (
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// said writes a message of a speaker on a day.
func (f *fixture) said(speaker, content, asked string, day int) memory.Memory {
	f.t.Helper()
	return f.add(content, func(m *memory.Memory) {
		m.Type, m.Speaker = memory.TypeMessage, speaker
		m.Asked = asked
		m.CreatedAt = begin.AddDate(0, 0, day)
		m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
	}, true)
}

func TestRecall_MakesOneItemOfRepeatedMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.said("user", "My back hurts again.", "", 0)
	f.said("user", "my back  hurts again", "", 3)
	latest := f.said("user", "My back hurts again!", "", 9)
	f.said("assistant", "My back hurts again.", "", 1)
	f.said("user", "My back hurts.", "", 2)
	f.said("user", "Yes, my back.", "Does your back hurt?", 4)
	f.said("user", "Yes, my back.", "Does your back hurt again?", 5)
	a := f.recall(Query{Text: "Does my back hurt again?", Explain: true})
	found := map[string]Recalled{}
	for _, m := range a.Memories {
		found[m.Memory.Speaker+": "+m.Memory.Content+m.Memory.Asked] = m
	}
	if len(a.Memories) != 5 || len(found) != 5 {
		t.Fatalf("got %q", contents(a))
	}
	got := found["user: "+latest.Content]
	if want := (Repeats{3, latest.CreatedAt}); got.Memory.ID != latest.ID || got.Repeats != want {
		t.Errorf("%q is said %+v, want %+v", got.Memory.Content, got.Repeats, want)
	}
	for name, m := range found {
		if m.Memory.ID != latest.ID && m.Repeats != (Repeats{}) {
			t.Errorf("%s is said %+v", name, m.Repeats)
		}
	}
	represented := 0
	for _, left := range a.Explanation.LeftOut {
		if left.Reason == Represented && left.By == latest.ID {
			represented++
		}
	}
	if represented != 2 {
		t.Errorf("%d messages are represented by the latest, want 2: %+v", represented, a.Explanation.LeftOut)
	}
}

// What the filters of a query exclude does not count.
func TestRecall_CountsRepeatsWithinItsFilters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for day := range 4 {
		f.said("user", "My back hurts again.", "", day)
	}
	a := f.recall(Query{Text: "my back", Until: begin.AddDate(0, 0, 2)})
	if len(a.Memories) != 1 || a.Memories[0].Repeats != (Repeats{2, begin.AddDate(0, 0, 1)}) {
		t.Errorf("got %q, said %+v", contents(a), a.Memories[0].Repeats)
	}
}

func TestRepeatOf_IsZeroForOtherMemories(t *testing.T) {
	t.Parallel()
	for _, d := range []db.Document{
		{Type: memory.TypeFact, Content: "My back hurts."}, {Type: memory.TypeMessage, Content: "?!"},
		{Type: memory.TypeMessage},
	} {
		if got := repeatOf(&d); got != 0 {
			t.Errorf("%+v: %d", d, got)
		}
	}
	marks := []uint64{}
	for _, content := range []string{"My back.", "my  BACK", "My back!?"} {
		marks = append(marks, repeatOf(&db.Document{Type: memory.TypeMessage, Content: content}))
	}
	if len(slices.Compact(marks)) != 1 {
		t.Errorf("the same words give %v", marks)
	}
}
