package api

import (
	"slices"
	"strings"
	"testing"
)

func TestInsteadOf_NamesARouteOfOurs(t *testing.T) {
	t.Parallel()
	isRoute := func(path string) bool {
		return slices.Contains([]string{"/v1/turns", "/v1/recall", "/v1/memories/:id"}, path)
	}
	for path, want := range map[string]string{
		"/turns":                       "use /v1/turns",
		"/v1/recall/":                  "use /v1/recall",
		"/api/v1/recall":               "use /v1/recall",
		"/v1/search":                   "use POST /v1/recall",
		"/v1/memories/":                "mem0's API is at /mem0",
		"/v2/memories/search/":         "mem0's API is at /mem0",
		"/memories":                    "mem0's API is at /mem0",
		"/api/v2/threads/t/messages":   "Zep's messages are POST /v1/turns",
		"/v1/default/banks/b/recall":   "Hindsight's banks are users here",
		"/v4/profile":                  "Supermemory's memories are POST /v1/memories",
		"/v1/chat/completions":         "the OpenAI-compatible proxy is at /proxy/v1",
		"/sse":                         "MCP is at /mcp",
		"/v1/memories/0198c0de":        "",
		"/v1/memories/0198c0de/histor": "",
		"/nothing":                     "",
	} {
		if got := insteadOf(path, isRoute); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
