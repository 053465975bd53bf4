package ingest

import (
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// A client that edits, deletes or regenerates messages reports its list, which the log does not end with.
func TestNews_OfAListThatWasEdited(t *testing.T) {
	t.Parallel()
	log := list("u1", "a1", "u2", "a2", "u3", "a3", "u4", "a4")
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		reported, want []memory.Message
		after          time.Duration
	}{
		"an answer was generated again": {
			list("u1", "a1", "u2", "a2", "u3", "a3", "u4", "a4b", "u5"), list("a4b", "u5"), day,
		},
		"a message was edited":        {list("u1", "a1", "u2", "a2", "u3b", "a3b"), list("u3b", "a3b"), day},
		"an exchange was deleted":     {list("u1", "a1", "u3", "a3", "u4", "a4", "u5"), list("u5"), day},
		"a window of an edited list":  {list("a1", "u2", "a2", "u3", "a3", "u4", "a4b"), list("a4b"), day},
		"a late retry":                {list("u1", "a1", "u2", "a2", "u3", "a3"), nil, day},
		"a retry of few messages":     {list("u1", "a1", "u2"), nil, time.Minute},
		"few messages are said again": {list("u1", "a1", "u2"), list("u1", "a1", "u2"), day},
		"a greeting is said again":    {list("u1", "a1", "u5"), list("u1", "a1", "u5"), time.Minute},
		"from the middle":             {list("u2", "a2", "u3", "a3", "u5"), list("u2", "a2", "u3", "a3", "u5"), day},
	} {
		before := &said{events: eventsOf(log), at: begin, log: db.LogState{Events: int64(len(log))}}
		got := before.news(memory.Turn{Messages: c.reported, At: begin.Add(c.after)})
		if !slices.EqualFunc(got, c.want, equalMessages) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// What was said before an edited message is not said again, so that a former home does not become the present one.
func TestAccept_KeepsTheRestOfAnEditedListOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	chat := list("u I live in Utrecht", "a1", "u I moved to Groningen", "a2", "u3", "a3")
	edited := append(slices.Clone(chat[:5]), list("a3 again", "u4", "a4")...)
	later := append(slices.Clone(edited), list("u5", "a5 ")...)
	trimmed := append(slices.Clone(later[:9]), list("a5", "u6")...)
	for _, reported := range [][]memory.Message{chat, edited, later, trimmed} {
		if _, _, err := b.Accept(t.Context(), memory.Turn{Owner: ada, ConversationID: "c", Messages: reported}); err != nil {
			t.Fatal(err)
		}
	}
	want := append(slices.Clone(chat), list("a3 again", "u4", "a4", "u5", "a5 ", "u6")...)
	if got := b.logOf("c"); !slices.EqualFunc(got, want, equalMessages) {
		t.Errorf("the log is %v", got)
	}
}
