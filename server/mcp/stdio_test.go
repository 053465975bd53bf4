package mcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"hippocampus/server/app"
	"hippocampus/server/config"
)

// stdio sends lines to a server over its standard input and returns the answers by id, after the server has ended.
func stdio(t *testing.T, cfg config.Config, user string, lines ...string) map[int]string {
	t.Helper()
	var out, log bytes.Buffer
	in, client := io.Pipe()
	ended := make(chan error, 1)
	answered := &output{}
	host := app.Host{Out: io.MultiWriter(&out, answered), Err: &log, Now: time.Now}
	go func() { ended <- app.ServeMCP(t.Context(), cfg, host, in, user) }()
	for i, line := range lines {
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
		// The protocol lets a server answer requests in any order: wait for each answer.
		deadline := time.Now().Add(time.Minute)
		for strings.Count(answered.String(), "\n") <= i && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatalf("the server ended with %v\n%s", err, log.String())
	}
	answers := map[int]string{}
	for line := range strings.Lines(out.String()) {
		var answer struct {
			JSONRPC string `json:"jsonrpc"`
			ID      int    `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.JSONRPC != "2.0" {
			t.Errorf("standard output carries %q", line)
		}
		answers[answer.ID] = line
	}
	return answers
}

// begin is the first request of a client.
const begin = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

func withID(id, call string) string { return strings.Replace(call, `"id":1`, `"id":`+id, 1) }

func TestStdio_ServesOneUserAndKeepsTheMemory(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Data = t.TempDir()
	answers := stdio(t, cfg, "ada", begin,
		withID("2", callOf("add_memory", `{"content":"Lives in Lisbon."}`)),
		withID("3", callOf("add_memory", `{"content":"Lives in Porto.","user_id":"bob"}`)),
		withID("4", callOf("add_memory", `{"content":"Rows\ud83d daily."}`)))
	contains(t, answers[2], "Scope: user ada of app default.", "Remembered: ")
	contains(t, answers[3], "user_id is not an argument here")
	contains(t, answers[4], "Rows\uFFFD daily.", "In content, 1 characters could not be stored")

	answers = stdio(t, cfg, "", begin,
		withID("2", callOf("search_memories", `{"user_id":"ada","query":"Where does Ada live?"}`)),
		withID("3", callOf("list_memories", `{"user_id":"bob"}`)))
	contains(t, answers[2], "Lives in Lisbon.")
	contains(t, answers[3], "There is no such memory in this scope.")
}

func TestStdio_EndsOnMalformedInput(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Data = t.TempDir()
	in := io.NopCloser(strings.NewReader(begin + "\n{\n"))
	err := app.ServeMCP(t.Context(), cfg, app.Host{Out: io.Discard, Err: io.Discard, Now: time.Now}, in, "ada")
	if err == nil {
		t.Error("the server takes no notice of malformed input")
	}
	err = app.ServeMCP(t.Context(), cfg, app.Host{Out: io.Discard, Err: io.Discard, Now: time.Now}, in, "a\x00b")
	if err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Errorf("a user that is no id: %v", err)
	}
}
