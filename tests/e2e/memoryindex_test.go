package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// MEMORY.md is an index within its bounds, and its topic files exchange changes with the server.
func TestMemoryIndex_ExchangesTopicFiles(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := filepath.Join(t.TempDir(), "MEMORY.md")
	facts := filepath.Join(filepath.Dir(path), "topics", "facts.md")
	want := func(ok bool, text, command string, args ...string) {
		t.Helper()
		out, err := s.carry(s.key, append([]string{"file", command, path, "--user", "ada"}, args...)...)
		if (err == nil) != ok || !strings.Contains(out, text) {
			t.Fatalf("file %s: %v, want %q: %s", command, err, text, out)
		}
	}
	edit := func(path, from, to string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Replace(readFile(t, path), from, to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var many []object
	for i := range 300 {
		many = append(many, object{
			"user_id": "ada", "content": fmt.Sprintf("Number %d: %s", i, strings.Repeat("thé ", 200)), "importance": .5,
		})
	}
	s.call("POST", "/v1/memories/batch", object{"memories": many}, 200)
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Lives in Lisbon.", "importance": .9}, 201)
	s.call("POST", "/v1/memories",
		object{"user_id": "ada", "content": "Buy oat milk.", "type": "task", "pinned": true}, 201)
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Of the tutor.", "agent_id": "tutor"}, 201)
	want(true, "", "pull")
	index := readFile(t, path)
	const most = "- [Facts](topics/facts.md): 301\n- [Tasks](topics/tasks.md): 1\n\n## Most important\n\n" +
		"- Buy oat milk.\n- Lives in Lisbon.\n- Number 299: "
	if lines := strings.Count(index, "\n"); lines > 200 || len(index) > 25_000 || !strings.Contains(index, most) {
		t.Errorf("the index has %d lines and %d bytes:\n%s", lines, len(index), index)
	}
	want(true, "0 added, 0 changed, 0 forgotten, 0 from the server, 0 conflicts", "sync")
	if again := readFile(t, path); again != index {
		t.Errorf("a second synchronization changes\n%s\nto\n%s", index, again)
	}

	edit(facts, "Lives in Lisbon.", "Lives in Porto.")
	edit(filepath.Join(filepath.Dir(path), "topics", "tasks.md"), "- Buy oat milk.", "<!-- -->")
	want(true, "0 added, 1 changed, 1 forgotten, 0 from the server, 0 conflicts", "push")
	if index = readFile(t, path); !strings.Contains(index, "- Lives in Porto.\n") || strings.Contains(index, "oat milk") {
		t.Errorf("the index is\n%s", index)
	}
	if all := s.active("ada"); len(all) != 302 {
		t.Errorf("%d memories are active", len(all))
	}
	edit(facts, "# Facts\n", "# Facts\n\n- "+strings.Repeat("x", 4097)+"\n")
	want(false, "topics/facts.md line 3", "sync")
	edit(path, "# Memories\n", "# Memories\n\nWritten by another program.\n")
	want(false, "MEMORY.md has text", "sync")
	want(true, "", "pull", "--yes")
	want(true, "0 added, 0 changed", "sync")
}
