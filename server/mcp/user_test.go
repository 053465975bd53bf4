package mcp_test

import (
	"slices"
	"testing"
)

// If the header or the address names the user, tools do not take the user as an argument, and no argument reaches the
// memory of others.
func TestUser_OfTheConnectionCannotBeEscaped(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	_, added := f.connect(f.write, "").call("add_memory", args{"user_id": "ada", "content": "Lives in Lisbon."})
	ada := added.Memory.ID
	for name, c := range map[string]*client{
		"header": f.connect(f.write, "", "X-Hippocampus-User", "bob"),
		"query":  f.connect(f.write, "?user_id=bob"),
		"both":   f.connect(f.write, "?user_id=bob", "X-Hippocampus-User", "bob"),
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{t, c.ClientSession}
			_, arguments := c.tools()
			for tool, known := range arguments {
				if slices.Contains(known, "user_id") {
					t.Errorf("%s has the argument user_id", tool)
				}
			}
			for _, tool := range []string{"search_memories", "get_context", "list_memories", "add_memory"} {
				text := c.refused(tool, args{"user_id": "ada", "query": "Where?", "content": "x"})
				contains(t, text, "user_id is not an argument here", "user bob")
				for _, other := range []string{"User_ID", "USER_ID", "filter", "user"} {
					contains(t, c.refused(tool, args{other: "ada"}), "is not an argument of "+tool)
				}
			}
			for _, tool := range []string{"update_memory", "delete_memory", "restore_memory", "get_memory_history"} {
				arguments := args{"memory_id": ada}
				if tool == "update_memory" {
					arguments["content"] = "Lives with Bob."
				}
				contains(t, c.refused(tool, arguments), "there is no memory with this id here")
			}
			_, mine := c.call("add_memory", args{"content": "Lives in Berlin.", "tags": []string{name}})
			if mine.Memory.UserID != "bob" || mine.Scope.UserID != "bob" {
				t.Errorf("added %+v", mine)
			}
			c.call("delete_memory", args{"memory_id": mine.Memory.ID})
			c.call("restore_memory", args{"memory_id": mine.Memory.ID})
			_, found := c.call("search_memories", args{"query": "Where does she live?"})
			for _, m := range found.Memories {
				if m.UserID != "bob" {
					t.Errorf("found %+v", m)
				}
			}
		})
	}
	_, past := f.connect(f.write, "").call("get_memory_history", args{"memory_id": ada})
	if len(past.Events) != 1 || past.Memory.Content != "Lives in Lisbon." {
		t.Errorf("Ada's memory was changed: %+v", past)
	}
}
