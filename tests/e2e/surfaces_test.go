package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// surfaces are the ways other than /v1 and the proxy to read what is known of a user.
var surfaces = []struct {
	name string
	read func(s *server, user string) (reply, error)

	refuses string // an id of a user that the surface refuses
}{
	{name: "/mcp", read: func(s *server, user string) (reply, error) {
		return s.askMCP("?user_id="+url.QueryEscape(user), object{"query": "What is the vault code?"})
	}},
	{name: "/mcp with the user as an argument", read: func(s *server, user string) (reply, error) {
		return s.askMCP("", object{"query": "What is the vault code?", "user_id": user})
	}},
	{name: "a search of mem0", refuses: "*", read: func(s *server, user string) (reply, error) {
		return s.try("POST", "/mem0/v3/memories/search/", object{
			"query": "What is the vault code?", "filters": object{"user_id": user}, "top_k": 100, "threshold": 0,
		})
	}},
	{name: "a list of mem0", refuses: "*", read: func(s *server, user string) (reply, error) {
		return s.try("GET", "/mem0/memories?user_id="+url.QueryEscape(user), nil)
	}},
	{name: "memory.md", read: func(s *server, user string) (reply, error) {
		return s.try("GET", "/v1/files/memory.md?user_id="+url.QueryEscape(user), nil)
	}},
	{name: "the memory tool", read: func(s *server, user string) (reply, error) {
		return s.try("POST", "/v1/memory-tool", object{"user_id": user, "command": "view", "path": "/memories/code.md"})
	}},
}

// askMCP searches the memories by a tool of MCP.
func (s *server) askMCP(query string, arguments object) (reply, error) {
	return s.callTool("search_memories", query, arguments)
}

// callTool calls a tool of MCP. query is that of the address.
func (s *server) callTool(name, query string, arguments object) (r reply, err error) {
	body, err := json.Marshal(object{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": name, "arguments": arguments},
	})
	if err != nil {
		return r, err
	}
	address := s.address() + "/mcp" + query
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return r, err
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := httpClient.Do(request)
	if err != nil {
		return r, err
	}
	defer response.Body.Close()
	var raw bytes.Buffer
	_, err = raw.ReadFrom(response.Body)
	return reply{status: response.StatusCode, header: response.Header, raw: raw.String()}, err
}

// Each surface shows a user whose id tries to break out only what is that user's own.
func TestSurfaces_KeepUsersAndAppsApart(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		const codes = "zqx" // what all of them begin with, and no id of the server has
		code := func(i int) string { return fmt.Sprintf("%s%dxqz", codes, i) }
		for i, user := range hostileIDs {
			s.call("POST", "/v1/memories", object{"user_id": user, "content": "The vault code is " + code(i) + "."}, 201)
			s.call("POST", "/v1/memory-tool", object{
				"user_id": user, "command": "create", "path": "/memories/code.md", "file_text": "Vault code " + code(i) + "\n",
			}, 200)
		}
		own := s.key
		stranger := s.createKey("--app", `other" or app_id != "`, "--role", "admin")
		for _, surface := range surfaces {
			s.key = own
			for i, user := range hostileIDs {
				r, err := surface.read(s, user)
				if user == surface.refuses && err == nil && r.status == http.StatusBadRequest && !strings.Contains(r.raw, codes) {
					continue
				}
				if err != nil || r.status != http.StatusOK || !strings.Contains(r.raw, code(i)) ||
					strings.Count(r.raw, codes) != strings.Count(r.raw, code(i)) {
					t.Errorf("%s of %q: %v, %d %s, instead of the code %s alone", surface.name, user, err, r.status, r.raw, code(i))
				}
			}
			for user := range refusedIDs {
				if r, err := surface.read(s, user); err != nil || r.status >= 500 || strings.Contains(r.raw, codes) {
					t.Errorf("%s of %q: %v, %d %s", surface.name, user, err, r.status, r.raw)
				}
			}
			s.key = stranger
			for _, user := range slices.Concat(hostileIDs, []string{""}) {
				if r, err := surface.read(s, user); err != nil || r.status >= 500 || strings.Contains(r.raw, codes) {
					t.Errorf("%s of %q, as another app: %v, %d %s", surface.name, user, err, r.status, r.raw)
				}
			}
		}
	})
}
