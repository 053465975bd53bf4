package recall

import (
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

func TestRecall_OfWhatIsStillToBeDone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	begin := time.Date(2031, 3, 1, 9, 0, 0, 0, time.UTC)
	for day, said := range []string{
		"I need to renew my passport.", "I have to pay the electricity bill.", "I still have to fix the kitchen tap.",
		"My list of things to see has nothing to do with work.", "The electricity bill is paid.",
		"The kitchen has a blue tap, and I painted the door.",
	} {
		f.add(said, func(m *memory.Memory) { m.CreatedAt = begin.AddDate(0, 0, day) }, true)
	}
	open := []string{"I need to renew my passport.", "I still have to fix the kitchen tap."}
	got := f.recall(Query{Text: "What do I still need to do?", At: begin.AddDate(0, 0, 9)})
	if first := slices.Sorted(slices.Values(contents(got)[:2])); !slices.Equal(first, open) {
		t.Fatalf("found %q, want first %q", contents(got), open)
	}
	for i, m := range got.Memories {
		if sure, toDo := m.Confidence > 0.5, m.ToDo > 0; sure != (i < 2) || toDo != (i < 2) {
			t.Errorf("%q has the confidence %v and gets %v", m.Memory.Content, m.Confidence, m.ToDo)
		}
	}
	got = f.recall(Query{Text: "What do I still have to do for the passport?", At: begin.AddDate(0, 0, 9)})
	if contents(got)[0] != "I need to renew my passport." || got.Memories[0].ToDo != ofTopic {
		t.Errorf("of the passport found %q", contents(got))
	}
}
