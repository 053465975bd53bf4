package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// cpu returns the CPU time that the server's process has used.
func (s *server) cpu() time.Duration {
	s.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every platform of Linux
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after) // from the third one of proc(5) on
	user, err := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err != nil || err2 != nil {
		s.t.Fatalf("%s: %v, %v", stat, err, err2)
	}
	return time.Duration(user+system) * tick
}

// faultyBody repeats a part to almost a MiB.
func faultyBody(before, part, after string) string {
	const size = 1<<20 - 1<<10
	return before + strings.Repeat(part, (size-len(before)-len(after))/len(part)) + after
}

// Bodies of the largest allowed size that consist of faults, for the protocols other than /v1. Package api tests /v1 by
// openapi.yaml.
func TestProtocols_RefuseFaultyBodiesWithinASecondOfCPU(t *testing.T) {
	t.Parallel()
	s, _ := startProxy(t)
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada lives in Lisbon"}, 201)
	var distinct strings.Builder
	for i := 0; distinct.Len() < 1<<20-1<<12; i++ {
		fmt.Fprintf(&distinct, `"x%d":0,`, i)
	}
	deep := strings.Repeat(`{"a":[`, 13) + "0" + strings.Repeat("]}", 13) + ","
	deeper := strings.Repeat(`{"AND":[`, 400) + strings.Repeat("]}", 400) + ","
	parts := map[string]string{
		"numbers": "0,", "objects": "{},", "deep values": deep, "deeper values": deeper,
	}
	bodies := map[string]map[string]string{} // by route
	add := func(route, what, body string) {
		if bodies[route] == nil {
			bodies[route] = map[string]string{}
		}
		bodies[route][what] = body
	}
	for route, lists := range map[string][][2]string{
		"POST /mcp": {
			{`[`, `0]`},
			{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_memory","arguments":{"user_id":"ada","tags":[`,
				`0]}}}`},
			{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[`, `0]}`},
		},
		"POST /mem0/v3/memories/add":    {{`{"user_id":"ada","messages":[`, `0]}`}, {`{"user_id":"ada","metadata":[`, `0]}`}},
		"POST /mem0/v1/memories":        {{`{"user_id":"ada","messages":[`, `0]}`}},
		"POST /mem0/v2/memories/search": {{`{"query":"x","filters":{"AND":[`, `0]}}`}, {`{"query":"x","filters":[`, `0]}`}},
		"POST /mem0/v2/memories":        {{`{"filters":{"OR":[`, `0]}}`}},
		"PUT /mem0/v1/batch":            {{`{"memories":[`, `0]}`}},
		"DELETE /mem0/v1/batch":         {{`{"memories":[`, `0]}`}},
		"POST /mem0/v1/feedback":        {{`[`, `0]`}},
		"POST " + chats: {{`{"user":"ada","messages":[`, `0]}`},
			{`{"user":"ada","messages":[{"role":"user","content":[`, `0]}]}`}},
		"POST /proxy/v1/responses": {{`{"user":"ada","input":[`, `0]}`}},
		"POST /v1/memory-tool":     {{`{"command":"view","view_range":[`, `0]}`}},
	} {
		add(route, "names", "{"+distinct.String()+`"x":0}`)
		add(route, "brackets", faultyBody("", "[", ""))
		add(route, "text", faultyBody(`{"user_id":"ada","query":"`, `\u0001a `, `"}`))
		for i, list := range lists {
			for what, part := range parts {
				add(route, fmt.Sprintf("%s in list %d", what, i), faultyBody(list[0], part, list[1]))
			}
		}
	}
	for _, name := range []string{"memory.md", "learnings.md"} {
		for what, part := range map[string]string{
			"bullets": "- x\n", "empty bullets": "-\n", "lines": "\n", "headings": "# x\n", "comments": "<!-- ",
			"closed comments": "- x <!-- id -->\n", "one line": "- a. ", "fields": "x: y\n", "fences": "```\n",
		} {
			user := strings.ReplaceAll(name+what, " ", "-")
			add("PUT /v1/files/"+name+"?user_id="+user, what, faultyBody("", part, ""))
		}
	}
	const most = time.Second
	worst, sent := time.Duration(0), 0
	for route, all := range bodies {
		for what, body := range all {
			method, path, _ := strings.Cut(route, " ")
			took := time.Hour
			var status int
			for try := 0; try < 3 && took > most; try++ { // the time of a busy machine varies
				before := s.cpu()
				status = s.sendAs(method, path, body)
				took = min(took, s.cpu()-before)
			}
			sent++
			worst = max(worst, took)
			if took > most || status >= 500 || status == http.StatusRequestEntityTooLarge {
				t.Errorf("%s with %s: status %d after %s of CPU", route, what, status, took)
			}
		}
	}
	t.Logf("%d bodies, the longest took %s", sent, worst)
}

// sendAs sends a body with the media type of the route, and returns the status.
func (s *server) sendAs(method, path, body string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.address()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(path, "/v1/files/") {
		r.Header.Set("Content-Type", "text/markdown")
	}
	answer, err := httpClient.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}
