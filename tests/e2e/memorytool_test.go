package e2e

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// tool runs a command of the memory tool for ada, and returns what the model reads.
func (s *server) tool(command object) string {
	s.t.Helper()
	body := object{"user_id": "ada"}
	maps.Copy(body, command)
	r := s.call("POST", "/v1/memory-tool", body, 200)
	if r.body["is_error"] != false {
		s.t.Fatalf("%v: %s", command, r.raw)
	}
	text, _ := r.body["content"].(string)
	return text
}

// wantParagraphs requires that the active memories of ada are the paragraphs of her files, each one line.
func (s *server) wantParagraphs() (paragraphs []string) {
	s.t.Helper()
	listing := s.tool(object{"command": "view", "path": "/memories"})
	for line := range strings.SplitSeq(listing, "\n") {
		_, path, listed := strings.Cut(line, "\t")
		if !listed || path == "/memories" || strings.HasSuffix(path, "/") {
			continue
		}
		_, text, _ := strings.Cut(s.tool(object{"command": "view", "path": path}), "\n")
		for line := range strings.SplitSeq(text, "\n") {
			if _, content, _ := strings.Cut(line, "\t"); content != "" {
				paragraphs = append(paragraphs, content+" in "+path)
			}
		}
	}
	var memories []string
	for _, m := range s.call("GET", "/v1/memories?user_id=ada&limit=500", nil, 200).list("memories") {
		metadata, _ := m["metadata"].(map[string]any)
		memories = append(memories, fmt.Sprint(m["content"], " in ", metadata["path"]))
	}
	slices.Sort(paragraphs)
	slices.Sort(memories)
	if !slices.Equal(paragraphs, memories) {
		s.t.Errorf("the files have the paragraphs\n%q, and the memories are\n%q", paragraphs, memories)
	}
	return paragraphs
}

// Files and the memories of their paragraphs stay equal through edits, kills and a move to another server, and an
// erasure deletes both.
func TestMemoryTool_FilesAndMemoriesStayEqual(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		const notes = "/memories/people/ada.md"
		s.tool(object{"command": "create", "path": notes, "file_text": "Ada drinks green tea.\n\nShe lives in Lisbon.\n"})
		s.tool(object{"command": "str_replace", "path": notes, "old_str": "Lisbon", "new_str": "Porto"})
		s.tool(object{"command": "rename", "old_path": "/memories/people", "new_path": "/memories/friends"})
		s.wantParagraphs()
		found := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "Where does she live?"}, 200).list("memories")
		if texts := contents(found); len(texts) != 2 || texts[0] != "She lives in Porto." {
			t.Errorf("recalled %q", texts)
		}

		var edits atomic.Int64
		var writers sync.WaitGroup
		for n := range 3 {
			writers.Go(func() { s.editUntilKilled(n, &edits) })
		}
		eventually(t, "edits", func() string {
			if edits.Load() < 30 {
				return fmt.Sprintf("%d edits", edits.Load())
			}
			return ""
		})
		s.kill()
		writers.Wait()
		s.run()
		paragraphs := s.wantParagraphs()
		s.storesEqual(builtin, "ada")

		other := start(t, size.settings(t)...)
		export := filepath.Join(t.TempDir(), "export.ndjson")
		if out, err := s.carry(s.key, "export", export, "--user", "ada"); err != nil {
			t.Fatal(out, err)
		}
		if out, err := other.carry(other.key, "import", export); err != nil {
			t.Fatal(out, err)
		}
		if again := other.wantParagraphs(); !slices.Equal(again, paragraphs) {
			t.Errorf("imported %q, want %q", again, paragraphs)
		}
		path := "/v1/memory-tool/versions?user_id=ada&path=" + url.QueryEscape("/memories/friends/ada.md")
		if versions := other.call("GET", path, nil, 200).list("versions"); len(versions) != 2 {
			t.Errorf("versions %v", versions)
		}

		s.tool(object{"command": "delete", "path": "/memories/friends"})
		s.wantParagraphs()
		deleted := s.erase("ada").body["deleted"].(map[string]any)
		if deleted["files"] != 3.0 || deleted["file_versions"].(float64) < 5 {
			t.Errorf("receipt %v", deleted)
		}
		if paragraphs := s.wantParagraphs(); len(paragraphs) > 0 {
			t.Errorf("after the erasure: %q", paragraphs)
		}
		s.storesEqual(builtin, "ada")
	})
}

// editUntilKilled adds lines to a file and removes them until the server no longer answers.
func (s *server) editUntilKilled(n int, edits *atomic.Int64) {
	path := fmt.Sprintf("/memories/%d.md", n)
	command := object{"command": "create", "path": path, "file_text": ""}
	for i := 0; ; i++ {
		command["user_id"] = "ada"
		r, err := s.try("POST", "/v1/memory-tool", command)
		if err != nil {
			return
		}
		if r.status != 200 || r.body["is_error"] != false {
			s.t.Errorf("%v: %s", command, r.raw)
			return
		}
		edits.Add(1)
		command = object{
			"command": "insert", "path": path, "insert_line": 0, "insert_text": fmt.Sprintf("\nLine %d of file %d.", i, n),
		}
		if i%3 == 2 {
			command = object{
				"command": "str_replace", "path": path, "old_str": fmt.Sprintf("Line %d of file %d.", i-1, n), "new_str": "",
			}
		}
	}
}
