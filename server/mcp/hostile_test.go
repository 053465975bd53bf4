package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/server/config"
)

// post sends a body to /mcp as a key and returns the status and the answer.
func (f *fixture) post(key, query, body string, extra ...string) (status int, answer string, header http.Header) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+"/mcp"+query, strings.NewReader(body))
	f.must(err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(extra); i += 2 {
		request.Header.Set(extra[i], extra[i+1])
	}
	response, err := f.client.Do(request)
	f.must(err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	f.must(err)
	return response.StatusCode, string(raw), response.Header
}

// callOf is a call as a JSON text.
func callOf(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`,
		tool, arguments)
}

func TestHostile_RequestsAreRefusedWithoutServerErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.connect(f.write, "").call("add_memory", args{"user_id": "ada", "content": "Lives in Lisbon."})
	nested := strings.Repeat(`{"a":`, 900) + "1" + strings.Repeat("}", 900)
	list := func(arguments string) string { return callOf("list_memories", arguments) }
	search := func(arguments string) string { return callOf("search_memories", arguments) }
	file := func(uri string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + uri + `"}}`
	}
	const noID = "memory_id is missing or is not the id"
	for name, c := range map[string]struct {
		body   string
		status int
		text   string
	}{
		"nothing":          {``, 400, ""},
		"no JSON":          {`{`, 400, ""},
		"a list":           {`[]`, 400, ""},
		"no UTF-8":         {search("{\"user_id\":\"\xff\",\"query\":\"x\"}"), 200, "isError"},
		"no method":        {`{"jsonrpc":"2.0","id":1}`, 202, ""}, // a response to no request
		"unknown method":   {`{"jsonrpc":"2.0","id":1,"method":"memories/steal"}`, 400, ""},
		"unknown tool":     {callOf("drop_table", `{}`), 200, "unknown tool"},
		"subscription":     {`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`, 200, "missing required"},
		"list as argument": {search(`[]`), 200, "are not a JSON object"},
		"text as argument": {search(`"x"`), 200, "are not a JSON object"},
		"no arguments":     {search(`null`), 200, "user_id is missing"},
		"twice": {
			search(`{"user_id":"ada","user_id":"eve","query":"Where?"}`), 200, "",
		},
		"null for all": {callOf("add_memory", `{"user_id":null,"content":null}`), 200, "user_id is missing"},
		"deep metadata": {
			callOf("add_memory", `{"user_id":"ada","content":"x","metadata":`+nested+`}`), 200, "nested deeper",
		},
		"deep everything": {
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + strings.Repeat(`{"a":`, 100_000) + `1` +
				strings.Repeat(`}`, 100_000) + `}`, 400, "",
		},
		"many lists": {search(strings.Repeat("[", 200_000)), 400, ""},
		"too large":  {callOf("add_memory", `{"content":"`+strings.Repeat("x", 1<<20)+`"}`), 413, "the body is over"},
		"NUL":        {search(`{"user_id":"a\u0000da","query":"x"}`), 200, "NUL character"},
		"half pair":  {search(`{"user_id":"ada","query":"\ud800"}`), 200, ""},
		"long user": {
			search(`{"user_id":"` + strings.Repeat("é", 129) + `","query":"x"}`), 200, "at most 256",
		},
		"control character": {list(`{"user_id":"a\u0007da"}`), 200, "control character"},
		"list of lists":     {list(`{"user_id":"ada","types":[["fact"]]}`), 200, "types is not a text"},
		"unknown type":      {list(`{"user_id":"ada","types":["fact","x"]}`), 200, "types[1] is not one of"},
		"foreign cursor":    {list(`{"user_id":"ada","cursor":"AAAA"}`), 200, "cursor is not a cursor"},
		"path as id":        {callOf("delete_memory", `{"memory_id":"../facts"}`), 200, noID},
		"number as id":      {callOf("delete_memory", `{"memory_id":7}`), 200, noID},
		"file of a path":    {file("memory://../../etc/passwd"), 200, "not found"},
		"file of no user":   {file("memory://a%00b/memory.md"), 200, "not found"},
		"prompt without user": {
			`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"recall","arguments":{"query":"x"}}}`, 200,
			"user_id is missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, answer, _ := f.post(f.write, "", c.body)
			if status != c.status || !strings.Contains(answer, c.text) {
				t.Errorf("%d %.500s, want %d and %q", status, answer, c.status, c.text)
			}
		})
	}
}

// A subscription that held its connection open would wait for changes that are never sent.
func TestHostile_SubscriptionsEndAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	_, answer, _ := f.post(f.read, "", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},
		"io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}`,
		"MCP-Protocol-Version", "2026-07-28", "MCP-Method", "subscriptions/listen")
	if !strings.Contains(answer, `"notifications":{}`) || !strings.Contains(answer, `"resultType":"complete"`) {
		t.Errorf("%s", answer)
	}
}

func TestHTTP_RefusesAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(cfg *config.Config) { cfg.API.AuthFailures = 5 })
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, header := range map[string][]string{
		"token":      {"Authorization", "Token " + f.read},
		"key header": {"X-API-Key", f.read},
	} {
		status, answer, _ := f.post("", "", list, header...)
		if status != 200 || !strings.Contains(answer, "search_memories") {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	for _, c := range []struct{ query, header, path string }{
		{"?user_id=", "", "query.user_id"},
		{"?user_id=a%00", "", "query.user_id"},
		{"?user_id=a&user_id=b", "", "query.user_id"},
		{"?user_id=a", "b", "query.user_id"},
		{"?user_id=%", "", "query"},
		{"", strings.Repeat("x", 257), "header.X-Hippocampus-User"},
	} {
		var extra []string
		if c.header != "" {
			extra = []string{"X-Hippocampus-User", c.header}
		}
		status, answer, header := f.post(f.read, c.query, list, extra...)
		if status != 400 || !strings.Contains(answer, `"path":"`+c.path+`"`) ||
			header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%+v: %d %s", c, status, answer)
		}
	}
	status, answer, header := f.post("", "", list)
	if status != 401 || !strings.Contains(answer, "no API key") || header.Get("WWW-Authenticate") == "" {
		t.Errorf("without a key: %d %s %v", status, answer, header)
	}
	for range 10 {
		status, _, header = f.post("guess", "", list)
	}
	if status != 429 || header.Get("Retry-After") == "" {
		t.Errorf("the tenth guess: %d %v", status, header)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/mcp", http.NoBody)
	f.must(err)
	request.Header.Set("X-API-Key", f.read)
	response, err := f.client.Do(request)
	f.must(err)
	response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %d %v", response.StatusCode, response.Header)
	}
}

// A key of another app reads nothing by any tool, resource or prompt.
func TestIsolation_OfApps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	_, added := f.connect(f.write, "").call("add_memory", args{"user_id": "ada", "content": "Lives in Lisbon."})
	var answers bytes.Buffer
	for _, body := range []string{
		callOf("search_memories", `{"user_id":"ada","query":"Where does Ada live?"}`),
		callOf("get_context", `{"user_id":"ada","query":"Where does Ada live?"}`),
		callOf("list_memories", `{"user_id":"ada"}`),
		callOf("get_memory_history", `{"memory_id":"`+added.Memory.ID+`"}`),
		callOf("update_memory", `{"memory_id":"`+added.Memory.ID+`","content":"Gone."}`),
		callOf("delete_memory", `{"memory_id":"`+added.Memory.ID+`"}`),
		callOf("restore_memory", `{"memory_id":"`+added.Memory.ID+`"}`),
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memory://ada/memory.md"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"recall",` +
			`"arguments":{"query":"x","user_id":"ada"}}}`,
	} {
		for _, query := range []string{"", "?user_id=ada"} {
			status, answer, _ := f.post(f.stranger, query, body)
			if status != 200 || !json.Valid([]byte(answer)) {
				t.Errorf("%s: %d %s", body, status, answer)
			}
			answers.WriteString(answer)
		}
	}
	if strings.Contains(answers.String(), "Lisbon") {
		t.Errorf("another app reads %s", answers.String())
	}
	_, past := f.connect(f.write, "").call("get_memory_history", args{"memory_id": added.Memory.ID})
	if len(past.Events) != 1 {
		t.Errorf("another app has changed the memory: %+v", past)
	}
}
