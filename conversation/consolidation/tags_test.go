package consolidation

import (
	"fmt"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// A memory of a stated event has its tags; a merged memory has the tags of both events.
func TestEvents_KeepTheirTags(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, false)
	tagged := func(content string, tags ...string) memory.Message {
		m := event(memory.Decision, content)
		m.Tags = tags
		return m
	}
	b.say("c", "", tagged("The release is on Friday.", "release"), event("", "hello"), tagged(" ", "nothing"),
		tagged("Night trains only.", "travel", "火车"))
	b.work("c", memory.TriggerImportant)
	b.say("c", "", tagged("The release is on Friday.", "plan"), tagged("Ada pays."))
	b.work("c", memory.TriggerImportant)
	list, err := b.store.ListMemories(t.Context(), db.MemoryFilter{Owner: memory.Owner{AppID: "app", UserID: "ada"},
		Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, fmt.Sprintf("%s %q", m.Content, m.Tags))
	}
	slices.Sort(got)
	want(t, "memories", got, []string{`Ada pays. []`, `Night trains only. ["travel" "火车"]`,
		`The release is on Friday. ["release" "plan"]`})
}
