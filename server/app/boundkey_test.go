package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

// boundKey is a server on which ada has a memory, with a key of the same app that is bound to bob.
type boundKey struct {
	*instance
	t       *testing.T
	bob     string
	private string // the id of ada's memory

	mu   sync.Mutex
	sent []string // to the model behind the proxy
}

const secretOfAda = "Keeps a tortoise called Hildegard."

func newBoundKey(t *testing.T) *boundKey {
	t.Helper()
	b := &boundKey{t: t}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.sent = append(b.sent, string(body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"Noted."}}]}`)
	}))
	t.Cleanup(model.Close)
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.AdminKey = "127.0.0.1:0", t.TempDir(), testKey
	cfg.Proxy.Upstream, cfg.Proxy.APIKey, cfg.Proxy.TrustHeaders = model.URL+"/v1", "key-of-the-model", true
	cfg.Proxy.Timeout = longTime
	b.instance = start(t, cfg)
	t.Cleanup(b.stop)
	var err error
	b.bob, _, err = CreateKey(t.Context(), cfg, Host{Now: time.Now},
		memory.Key{AppID: DefaultApp, UserID: "bob", Role: memory.RoleWrite})
	if err != nil {
		t.Fatal(err)
	}
	var stored struct{ ID string }
	b.decode(b.post("/v1/memories", `{"user_id":"ada","content":"`+secretOfAda+`"}`), &stored)
	b.private = stored.ID
	return b
}

// as sends a request with a key. headers are NAME and VALUE in turn.
func (b *boundKey) as(key, method, path, body string, headers ...string) (
	status int, answer string, header http.Header) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return response.StatusCode, string(raw), response.Header
}

// refused sends requests as bob's key. No request may succeed or answer with ada's memory.
func (b *boundKey) refused(t *testing.T, requests map[string]string, headers ...string) {
	t.Helper()
	for request, body := range requests {
		method, path, _ := strings.Cut(strings.ReplaceAll(request, "ID", b.private), " ")
		status, answer, _ := b.as(b.bob, method, path, strings.ReplaceAll(body, "ID", b.private), headers...)
		failed := status >= 400 && status < 500 || strings.Contains(answer, `"isError":true`) ||
			strings.Contains(answer, `"code":-32`)
		if !failed || strings.Contains(answer, "Hildegard") {
			t.Errorf("%s %s answers %d %s", request, body, status, answer)
		}
	}
}

// serves sends requests as bob's key. Each must succeed, and its answer must hold a text but nothing of ada.
func (b *boundKey) serves(t *testing.T, holding string, requests map[string]string, headers ...string) {
	t.Helper()
	for request, body := range requests {
		method, path, _ := strings.Cut(request, " ")
		status, answer, _ := b.as(b.bob, method, path, body, headers...)
		if status >= 300 || strings.Contains(answer, `"isError":true`) || strings.Contains(answer, "Hildegard") ||
			!strings.Contains(answer, holding) {
			t.Errorf("%s %s answers %d %s, want %q", request, body, status, answer, holding)
		}
	}
}

func tool(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
}

// A key that is bound to a user reads and changes that user's memories on every surface, and no one else's.
func TestBoundKey_IsConfinedOnEverySurface(t *testing.T) {
	t.Parallel()
	b := newBoundKey(t)
	const tea = "Likes green tea."
	b.post("/v1/memories", `{"user_id":"bob","content":"`+tea+`"}`)

	t.Run("v1", func(t *testing.T) {
		b.serves(t, "green tea", map[string]string{
			"GET /v1/memories?user_id=bob": "", "POST /v1/recall": `{"user_id":"bob","query":"Tea?"}`,
			"GET /v1/export?user_id=bob": "",
		})
		b.refused(t, map[string]string{
			"GET /v1/memories?user_id=ada": "", "GET /v1/memories/ID": "", "DELETE /v1/memories/ID": "", "GET /v1/users": "",
			"GET /v1/export": "", "GET /v1/stats": "", "POST /v1/recall": `{"user_id":"ada","query":"Tortoise?"}`,
		}, "X-Hippocampus-User", "ada")
	})
	t.Run("mem0", func(t *testing.T) {
		b.serves(t, "green tea", map[string]string{
			"POST /mem0/v3/memories/search/": `{"query":"Tea?","filters":{"user_id":"bob"}}`,
			"POST /mem0/v3/memories/":        `{"filters":{}}`, // the user of the key is implied
			"GET /mem0/memories":             "",
		})
		b.refused(t, map[string]string{
			"POST /mem0/v3/memories/search/": `{"query":"Tortoise?","filters":{"OR":[{"user_id":"bob"},{"user_id":"ada"}]}}`,
			"POST /mem0/v3/memories/":        `{"filters":{"user_id":"ada"}}`,
			"POST /mem0/v3/memories/add/":    `{"user_id":"ada","messages":[{"role":"user","content":"x"}],"infer":false}`,
			"GET /mem0/v1/memories/ID/":      "", "DELETE /mem0/v1/memories/ID/": "", "GET /mem0/v1/entities/": "",
			"GET /mem0/v1/memories/ID/history/": "", "DELETE /mem0/v2/entities/user/ada/": "", "POST /mem0/reset": "{}",
			"PUT /mem0/v1/memories/ID/":             `{"text":"x"}`,
			"DELETE /mem0/v1/memories/?user_id=ada": "",
			"GET /mem0/v1/events/?user_id=ada":      "",
		})
	})
	t.Run("mcp", func(t *testing.T) {
		b.serves(t, "green tea", map[string]string{"POST /mcp": tool("list_memories", `{}`)})
		b.serves(t, "green tea", map[string]string{"POST /mcp?user_id=bob": tool("search_memories", `{"query":"Tea?"}`)})
		for _, call := range []string{
			tool("list_memories", `{"user_id":"ada"}`), tool("search_memories", `{"query":"Tortoise?","user_id":"ada"}`),
			tool("delete_memory", `{"memory_id":"ID"}`), tool("get_memory_history", `{"memory_id":"ID"}`),
			tool("update_memory", `{"memory_id":"ID","content":"x"}`), tool("restore_memory", `{"memory_id":"ID"}`),
			`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memory://ada/memory.md"}}`,
			`{"jsonrpc":"2.0","id":1,"method":"prompts/get",` +
				`"params":{"name":"recall","arguments":{"query":"x","user_id":"ada"}}}`,
		} {
			b.refused(t, map[string]string{"POST /mcp": call})
		}
		b.refused(t, map[string]string{"POST /mcp?user_id=ada": tool("list_memories", `{}`)})
		b.refused(t, map[string]string{"POST /mcp": tool("list_memories", `{}`)}, "X-Hippocampus-User", "ada")
	})
	t.Run("files", func(t *testing.T) {
		b.serves(t, "green tea", map[string]string{"GET /v1/files/memory.md": "", "GET /v1/files/memory.md?user_id=bob": ""})
		b.refused(t, map[string]string{
			"GET /v1/files/memory.md?user_id=ada": "", "PUT /v1/files/memory.md?user_id=ada&confirm=true": "# Facts\n- x\n",
			"PUT /v1/files/memory.md": "---\nhippocampus: 1\nuser: ada\n---\n- x\n",
		})
	})
	t.Run("proxy", b.confinedProxy)
	if m := b.get("/v1/memories/" + b.private); !strings.Contains(m, secretOfAda) || !strings.Contains(m, `"active"`) {
		t.Errorf("ada's memory is %s", m)
	}
	if list := b.get("/v1/memories?user_id=ada&type=fact&type=message"); strings.Count(list, `"content"`) != 1 {
		t.Errorf("ada's memories are %s", list)
	}
}

// confinedProxy shows that no header and no body of a chat reads or writes the memory of another user, not even while
// the proxy holds the context of that user's chat.
func (b *boundKey) confinedProxy(t *testing.T) {
	const chat = `{"model":"m","user":"ada","messages":[{"role":"user","content":"What is the tortoise called?"}]}`
	const further = `{"model":"m","messages":[{"role":"user","content":"What is the tortoise called?"},` +
		`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"1","content":"done"}]}`
	for _, body := range []string{chat, further} { // the whole app's key puts ada's context into the proxy's cache
		_, _, header := b.as(testKey, "POST", "/proxy/v1/chat/completions", body, "X-Hippocampus-User", "ada",
			"X-Hippocampus-Key", testKey)
		if header.Get("X-Hippocampus-Memory") != "injected" {
			t.Errorf("the chat of ada has the headers %v", header)
		}
	}
	b.mu.Lock()
	if n := len(b.sent); n != 2 || !strings.Contains(b.sent[0], "Hildegard") || !strings.Contains(b.sent[1], "Hildegard") {
		t.Errorf("the model read %q", b.sent)
	}
	b.sent = nil
	b.mu.Unlock()
	for _, body := range []string{chat, further} {
		for _, name := range []string{"X-Hippocampus-User", "X-OpenWebUI-User-Id", "X-Other"} {
			status, text, header := b.as(b.bob, "POST", "/proxy/v1/chat/completions", body, name, "ada",
				"X-Hippocampus-Key", b.bob)
			if own := name == "X-Other"; status != 200 || (header.Get("X-Hippocampus-Error") == "") != own {
				t.Errorf("the header %s gives %d %s and %v", name, status, text, header)
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	raw, _ := json.Marshal(b.sent)
	if len(b.sent) != 6 || strings.Contains(string(raw), "Hildegard") {
		t.Errorf("the model read %s", raw)
	}
}
