package consolidation

import (
	"fmt"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

// The conversations of an app that has used up its tokens wait for the next run, however many they are. Those of other
// apps do not.
func TestRunAll_GoesOnPastAnAppOverItsQuota(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.Chat = apptest.Rationed{Chat: b.chat, AppID: ada.AppID}
	for i := range maxUnavailable + 1 {
		b.trip(fmt.Sprint("c", i))
		if _, err := b.End(t.Context(), ada.AppID, ada.UserID, fmt.Sprint("c", i), memory.TriggerEnd); err != nil {
			t.Fatal(err)
		}
	}
	other := memory.Owner{AppID: "other", UserID: "bob"}
	if _, _, err := b.write.Accept(t.Context(), memory.Turn{Owner: other, ConversationID: "c", Messages: []memory.Message{
		event("", "I want to go to Porto in May."), {Role: "assistant", Content: "Shall I look for trains?"},
		event(memory.Decision, "Bob takes the night train to Porto."),
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.End(t.Context(), other.AppID, other.UserID, "c", memory.TriggerEnd); err != nil {
		t.Fatal(err)
	}
	open := func(owner memory.Owner, id string) (n int) {
		t.Helper()
		list, err := b.store.ListConsolidations(t.Context(),
			db.ConsolidationFilter{Owner: owner, ConversationID: id, Limit: 100})
		if err != nil || len(list) == 0 {
			t.Fatalf("%v %v", list, err)
		}
		for _, c := range list {
			if c.Unfinished() {
				n++
			}
			if c.Unfinished() && c.Attempts > 0 {
				t.Errorf("the quota cost an attempt: %+v", c)
			}
		}
		return n
	}
	done, err := b.RunAll(t.Context())
	if err != nil || done.Failed != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if others := open(other, "c"); others != 0 {
		t.Errorf("%d of the other app wait", others)
	}
	for i := range maxUnavailable + 1 {
		if open(ada, fmt.Sprint("c", i)) == 0 {
			t.Errorf("conversation %d was consolidated beyond the quota", i)
		}
	}
	b.Chat = b.chat
	if done, err := b.RunAll(t.Context()); err != nil || done.Failed != 0 {
		t.Errorf("the next day: %+v, %v", done, err)
	}
	for i := range maxUnavailable + 1 {
		if n := open(ada, fmt.Sprint("c", i)); n != 0 {
			t.Errorf("the next day %d of conversation %d wait", n, i)
		}
	}
}
