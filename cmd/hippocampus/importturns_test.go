package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImport_ReportsTurnsLineByLine(t *testing.T) {
	t.Parallel()
	const file = `{"id":"t1","user_id":"bob","messages":[{"role":"user","content":"one","at":"2025-03-01T08:00:00-08:00"}]}

{"messages":[{"role":"user","content":"two"}],"at":"2025-03-02T08:00:00Z"}
{"id":"t3","messages":[]}
not json
{"id":"t4","messages":[{"role":"user","content":"busy"}]}
`
	var sent []map[string]any
	busy := true
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var turn map[string]any
		if err := json.NewDecoder(r.Body).Decode(&turn); err != nil || r.URL.Path != "/v1/turns" {
			t.Errorf("%s: %v", r.URL, err)
		}
		sent = append(sent, turn)
		switch turn["id"] {
		case "t3":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"title":"Bad Request","detail":"it is not valid",
				"errors":[{"path":"messages","message":"is empty"}]}`))
		case "t4":
			if busy {
				busy = false
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = w.Write([]byte(`{"title":"Too Many Requests","detail":"turns wait"}`))
				return
			}
			_, _ = w.Write([]byte(`{"id":"4","repeated":true}`))
		default:
			_, _ = w.Write([]byte(`{"id":"1"}`))
		}
	}))
	defer s.Close()
	path := filepath.Join(t.TempDir(), "chats.ndjson")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := run(t, nil, "import", "--from", "turns", path, "--user", "ada", "--url", s.URL)
	wantErr := "line 4: " + s.URL + " refuses: it is not valid; messages is empty\n" +
		"line 5: it is not a JSON object: give a body of POST /v1/turns on each line\n" +
		"hippocampus: 2 of 5 turns failed\n"
	if code != 1 || out != "imported 2 turns, skipped 1 that were there already\n" || errOut != wantErr {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errOut)
	}
	if len(sent) != 5 {
		t.Fatalf("%d requests, want 5 of which one is repeated: %v", len(sent), sent)
	}
	id, _ := sent[1]["id"].(string)
	if sent[0]["user_id"] != "bob" || sent[1]["user_id"] != "ada" || !strings.HasPrefix(id, "import-") {
		t.Errorf("the users and ids are not those of the lines: %v", sent[:2])
	}
}

func TestImport_EndsAtAServerThatRefusesTheKey(t *testing.T) {
	t.Parallel()
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"title":"Forbidden","detail":"the key reads only"}`))
	}))
	defer s.Close()
	path := filepath.Join(t.TempDir(), "chats.ndjson")
	if err := os.WriteFile(path, []byte("{}\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := run(t, nil, "import", "--from", "turns", path, "--url", s.URL)
	if requests != 1 || code == 0 || !strings.Contains(errOut, "line 1: ") || !strings.Contains(errOut, "safe to repeat") {
		t.Errorf("%d requests, exit %d, stderr %q", requests, code, errOut)
	}
}
