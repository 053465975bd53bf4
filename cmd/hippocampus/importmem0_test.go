package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestImport_ReadsMemoriesOfMem0(t *testing.T) {
	t.Parallel()
	const memories = `[
		{"id":"m1","memory":"Likes tea.","user_id":"ada","agent_id":"a","run_id":"r","metadata":{"k":1},"categories":["food"],
		 "created_at":"2026-01-31T08:00:00.5","updated_at":"2026-02-01T08:00:00Z","hash":"x"},
		{"id":"m2","memory":"Lives in Lisbon.","user_id":"ada","agent_id":null,"metadata":null,"categories":null,
		 "created_at":"2026-01-31T00:00:00-08:00"},
		{"id":"m3","memory":"","user_id":null}]`
	want := []any{
		map[string]any{
			"user_id": "ada", "content": "Likes tea.", "agent_id": "a", "conversation_id": "r", "dedup": true,
			"metadata": map[string]any{"k": 1.0}, "tags": []any{"food"}, "at": "2026-01-31T08:00:00.5Z",
		},
		map[string]any{
			"user_id": "ada", "content": "Lives in Lisbon.", "dedup": true, "at": "2026-01-31T00:00:00-08:00",
		},
		map[string]any{"user_id": "", "content": "", "dedup": true},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct{ Memories []any }
		err := json.NewDecoder(r.Body).Decode(&sent)
		if r.URL.Path != "/v1/memories/batch" || r.Header.Get("Content-Type") != "application/json" || err != nil ||
			!reflect.DeepEqual(sent.Memories, want) {
			t.Errorf("%s %v: %v", r.URL, r.Header, sent.Memories)
		}
		_, _ = w.Write([]byte(`{"results":[{"id":"1","verdict":"kept"},{"id":"2","verdict":"merged"},
			{"error":{"detail":"it is not valid","errors":[{"path":"content","message":"is empty"}]}}]}`))
	}))
	defer s.Close()
	for name, text := range map[string]string{
		"list": memories, "results": `{"count":3,"results":` + memories + `}`, "memories": `{"memories":` + memories + `}`,
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errOut := run(t, nil, "import", "--from", "mem0", file, "--url", s.URL)
		if code != 1 || out != "imported 1 memories, 1 that others hold already\n" ||
			errOut != "memory 3 (m3): it is not valid; content is empty\nhippocampus: 1 of 3 memories failed\n" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, code, out, errOut)
		}
	}
	for _, text := range []string{``, `{}`, `{"id":"m1"}`, `[1]`, `[{"memory":1}]`, `[`} {
		file := filepath.Join(t.TempDir(), "bad")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, errOut := run(t, nil, "import", "--from", "mem0", file, "--url", s.URL)
		if code != 1 || !strings.HasPrefix(errOut, "hippocampus: the file is not ") {
			t.Errorf("%q: exit %d, stderr %q", text, code, errOut)
		}
	}
	if code, _, errOut := run(t, nil, "import", "--from", "letta", "x"); code == 0 || !strings.Contains(errOut, "zep") {
		t.Errorf("exit %d, stderr %q", code, errOut)
	}
}
