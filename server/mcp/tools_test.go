package mcp_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTools_TakeAMemoryThroughItsLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	c := f.connect(f.write, "")

	text, added := c.call("add_memory", args{"user_id": "ada", "content": "Lives in Lisbon.", "tags": []string{"home"}})
	id := added.Memory.ID
	contains(t, text, "Scope: user ada of app mine.", "Remembered: ["+id+"] Lives in Lisbon.")
	_, again := c.call("add_memory", args{"user_id": "ada", "content": "Lives in Lisbon."})
	if again.Memory.ID != id || added.Verdict != "kept" || again.Verdict == "kept" {
		t.Errorf("the same statement again: %+v after %+v", again, added)
	}

	where := args{"user_id": "ada", "query": "Where does Ada live?"}
	text, found := c.call("search_memories", where)
	contains(t, text, "Scope: user ada of app mine.", "1 memory, best first:", "["+id+"] Lives in Lisbon. (fact, ")
	if len(found.Memories) != 1 || found.Memories[0].ID != id || found.Scope.UserID != "ada" {
		t.Errorf("found %+v", found)
	}
	text, known := c.call("get_context", where)
	contains(t, text, "Scope: user ada of app mine.", known.Text)
	contains(t, known.Text, "Lives in Lisbon.")

	text, _ = c.call("update_memory", args{"memory_id": id, "content": "Lives in Porto."})
	contains(t, text, "Scope: user ada of app mine.", "Changed: ["+id+"] Lives in Porto.")
	text, listed := c.call("list_memories", args{"user_id": "ada", "tags": []string{"home"}, "types": []string{"fact"}})
	contains(t, text, "1 memory, newest first:", "Lives in Porto.")
	if len(listed.Memories) != 1 || !slices.Equal(listed.Memories[0].Tags, []string{"home"}) {
		t.Errorf("listed %+v", listed)
	}

	text, gone := c.call("delete_memory", args{"memory_id": id})
	contains(t, text, "Forgotten; restore_memory brings it back: ["+id+"]")
	if gone.Memory.Status != "forgotten" {
		t.Errorf("deleted: %+v", gone)
	}
	_, listed = c.call("list_memories", args{"user_id": "ada", "statuses": []string{"forgotten"}})
	if len(listed.Memories) != 1 {
		t.Errorf("the forgotten memories are %+v", listed)
	}
	c.call("restore_memory", args{"memory_id": id})
	_, found = c.call("search_memories", where)
	if len(found.Memories) != 1 || found.Memories[0].Content != "Lives in Porto." {
		t.Errorf("found after the restoration: %+v", found)
	}

	text, past := c.call("get_memory_history", args{"memory_id": id})
	contains(t, text, "Scope: user ada of app mine.", "updated (api)", "Lives in Lisbon.")
	var kinds []string
	for _, e := range past.Events {
		kinds = append(kinds, e.Kind)
	}
	if diff := cmp.Diff([]string{"created", "merged", "updated", "forgotten", "restored"}, kinds); diff != "" {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
}

func TestTools_DependOnTheRoleOfTheKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	reading := []string{"get_context", "get_memory_history", "list_memories", "search_memories"}
	writing := []string{"add_memory", "delete_memory", "restore_memory", "update_memory"}
	writer, reader := f.connect(f.write, ""), f.connect(f.read, "")

	names, _ := reader.tools()
	if diff := cmp.Diff(reading, names); diff != "" {
		t.Errorf("a reading key's tools (-want +got):\n%s", diff)
	}
	names, _ = writer.tools()
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(reading, writing...))), names); diff != "" {
		t.Errorf("a writing key's tools (-want +got):\n%s", diff)
	}
	_, added := writer.call("add_memory", args{"user_id": "ada", "content": "Lives in Lisbon."})
	for _, tool := range writing {
		err := reader.protocolError(tool, args{"user_id": "ada", "content": "x", "memory_id": added.Memory.ID})
		contains(t, err.Error(), "unknown tool")
	}
	_, listed := reader.call("list_memories", args{"user_id": "ada"})
	if len(listed.Memories) != 1 || listed.Memories[0].Content != "Lives in Lisbon." {
		t.Errorf("the memories are %+v", listed)
	}
}
