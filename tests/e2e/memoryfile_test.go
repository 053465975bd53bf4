package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A synchronization exchanges the edits of a memory file and the server's new memories. A conflict keeps both texts.
func TestMemoryFile_ExchangesChanges(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		path := filepath.Join(t.TempDir(), "memory.md")
		file := func(command string, args ...string) (out string, code int) {
			out, err := s.carry(s.key, append([]string{"file", command, path, "--user", "ada"}, args...)...)
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return out, exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			return out, 0
		}
		want := func(code int, text, command string, args ...string) {
			t.Helper()
			if out, got := file(command, args...); got != code || !strings.Contains(out, text) {
				t.Fatalf("file %s exits with %d, want %d with %q: %s", command, got, code, text, out)
			}
		}
		edit := func(pairs ...string) string {
			t.Helper()
			text := strings.NewReplacer(pairs...).Replace(readFile(t, path))
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return text
		}
		home := s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Lives in Lisbon."}, 201)
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Has a cat.", "type": "preference"}, 201)
		want(0, "", "pull")
		edit("Has a cat", "Has two cats", "# Facts", "My own words.\n\n# Facts\n\n- Plays the cello.")
		want(0, "1 added, 1 changed, 0 forgotten, 0 from the server, 0 conflicts", "push")
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Buy oat milk.", "type": "task"}, 201)
		before := edit("Plays the cello", "Plays the cello in a quartet")
		want(1, "changed since", "push")
		want(0, "0 added, 1 changed, 0 forgotten, 1 from the server, 0 conflicts", "sync")
		merged := readFile(t, path)
		for _, text := range []string{
			"My own words.\n\n# Facts", "- Buy oat milk. <!--", "- Plays the cello in a quartet. <!--",
		} {
			if !strings.Contains(merged, text) {
				t.Errorf("the file lacks %q:\n%s\nafter\n%s", text, merged, before)
			}
		}
		want(0, "0 added, 0 changed, 0 forgotten, 0 from the server, 0 conflicts", "sync")
		if again := readFile(t, path); again != merged {
			t.Errorf("a second synchronization changes\n%s\nto\n%s", merged, again)
		}
		eventually(t, "the edited memory being recalled", func() string {
			r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "cello quartet"}, 200)
			if list := r.list("memories"); len(list) == 0 || list[0]["content"] != "Plays the cello in a quartet." {
				return r.raw
			}
			return ""
		})

		s.call("PATCH", "/v1/memories/"+home.body["id"].(string), object{"content": "Lives in Porto."}, 200)
		edit("Lives in Lisbon", "Lives in Faro")
		want(2, "", "sync")
		if text := readFile(t, path); !strings.Contains(text, "Porto. <!--") || !strings.Contains(text, "Faro. <!--") {
			t.Errorf("the conflict leaves\n%s", text)
		}
		if err := os.WriteFile(path, []byte(headOf(readFile(t, path))), 0o600); err != nil {
			t.Fatal(err)
		}
		want(1, "--yes", "sync")
		want(0, "5 forgotten", "sync", "--yes")
		if all := s.active("ada"); len(all) != 0 {
			t.Errorf("the memories are %v", all)
		}

		path = filepath.Join(filepath.Dir(path), "learnings.md")
		if err := os.WriteFile(path, []byte("# Instructions\n\n- Answer briefly.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		want(0, "1 added", "sync")
		s.call("POST", "/v1/skills/deploy/outcomes",
			object{"user_id": "ada", "success": true, "workflow": "Tag, then push."}, 200)
		edit("briefly", "at length")
		want(0, "0 added, 1 changed, 0 forgotten, 1 from the server", "sync")
		known := s.call("POST", "/v1/context", object{"user_id": "ada", "query": "Deploy?", "max_tokens": 300}, 200)
		learnings := readFile(t, path)
		if !strings.Contains(known.raw, "Answer at length.") || !strings.Contains(learnings, "deploy: Tag, then push.") {
			t.Errorf("the context is %s, the file\n%s", known.raw, learnings)
		}
	})
}

// A watched file follows both sides, even if an editor replaces it.
func TestMemoryFile_WatchFollowsBothSides(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := filepath.Join(t.TempDir(), "memory.md")
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Lives in Lisbon."}, 201)
	var out strings.Builder
	cmd := exec.Command(binary, "file", "watch", path, "--user", "ada", "--every", "200ms", "--url", s.url)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, append(s.cmd.Environ(), "HIPPOCAMPUS_KEY="+s.key), &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("watch ends with %v: %s", err, out.String())
		}
	}()
	shows := func(text string) {
		t.Helper()
		eventually(t, "the file showing "+text, func() string {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err.Error()
			}
			if !strings.Contains(string(raw), text) {
				return "it is: " + string(raw)
			}
			return ""
		})
	}
	shows("Lives in Lisbon. <!-- m:")
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Has a dog."}, 201)
	shows("Has a dog. <!-- m:")
	for _, text := range []string{"Plays the cello.", "Likes 绿茶."} {
		saved := path + "~"
		if err := os.WriteFile(saved, []byte(readFile(t, path)+"- "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(saved, path); err != nil {
			t.Fatal(err)
		}
		shows(text + " <!-- m:")
	}
	if all := s.active("ada"); len(all) != 4 {
		t.Errorf("the memories are %v", all)
	}
}

// headOf is a memory file without its bullets.
func headOf(file string) string {
	var head []string
	for line := range strings.Lines(file) {
		if !strings.HasPrefix(line, "- ") {
			head = append(head, line)
		}
	}
	return strings.Join(head, "")
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
