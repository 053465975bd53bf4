package mcp_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
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

// A key that may read the shared pool searches it by scope, and sees who shared a memory. Tools of other keys and of
// connections that are bound to a user do not have the argument.
func TestTools_SearchThePoolWhereTheKeyMay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	whole, bound := f.connect(f.write, ""), f.connect(f.write, "?user_id=ada")
	_, added := whole.call("add_memory", args{
		"user_id": "xuhang", "agent_id": "forge", "content": "Deploys with make release.",
	})
	body := strings.NewReader(fmt.Sprintf(`{"user_id":"xuhang","memory_id":%q}`, added.Memory.ID))
	request, err := http.NewRequestWithContext(t.Context(), "POST", f.url+"/v1/pool", body)
	f.must(err)
	request.Header.Set("Authorization", "Bearer "+f.write)
	request.Header.Set("Content-Type", "application/json")
	answer, err := f.client.Do(request)
	f.must(err)
	f.must(answer.Body.Close())
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("promoting: %s", answer.Status)
	}

	query := args{"user_id": "ada", "query": "How are deploys made?", "scope": "app"}
	text, found := whole.call("search_memories", query)
	contains(t, text, "Deploys with make release. (", "shared by xuhang/forge")
	if len(found.Memories) != 1 || found.Memories[0].Pool == nil || found.Memories[0].Pool.UserID != "xuhang" {
		t.Errorf("found %+v", found.Memories)
	}
	text, _ = whole.call("get_context", query)
	contains(t, text, "(shared by xuhang/forge)")
	delete(query, "scope")
	if text, _ := whole.call("search_memories", query); strings.Contains(text, "make release") {
		t.Errorf("without the scope: %s", text)
	}
	for name, c := range map[string]*client{"whole": whole, "bound": bound} {
		_, arguments := c.tools()
		for _, tool := range []string{"search_memories", "get_context"} {
			if got := slices.Contains(arguments[tool], "scope"); got != (name == "whole") {
				t.Errorf("%s has scope for %s: %v", tool, name, got)
			}
		}
	}
	contains(t, bound.refused("search_memories", args{"query": "make", "scope": "app"}), `"scope" is not an argument`)
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
