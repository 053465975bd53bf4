package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"pgregory.net/rapid"

	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/cmd/hippocampus/turnfile"
	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest"
)

// said is a message that a test sends.
type said struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// saying draws messages of sentences, small talk, long answers, other scripts, characters that no store holds, and
// texts that the embedder refuses.
var saying = rapid.Custom(func(t *rapid.T) said {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		"I keep bees in Porto. ", "thanks", "我在学葡萄牙语。", "How many hives are there? ", "🐝 ", "\n- Label boxes\n",
		"An unspeakable owl lives here. ", strings.Repeat("Moving takes time. ", 40), "Oslo\x00 is cold. ", "Boa sorte! ",
	}), 1, 4)
	return said{
		Role:    rapid.SampledFrom([]string{"user", "assistant", "user", "system"}).Draw(t, "role"),
		Content: strings.Join(pieces.Draw(t, "pieces"), ""),
	}
})

// visible returns the number of characters of texts, without white space.
func visible(texts ...string) (n int) {
	for _, r := range strings.Join(texts, "") {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// doors sends messages and statements through every door of a server.
type doors struct{ *instance }

// send returns the status and the answer of a request.
func (d doors) send(method, path string, body any, kind string) (int, []byte) {
	d.t.Helper()
	raw, isText := body.(string)
	if !isText {
		encoded, err := json.Marshal(body)
		if err != nil {
			d.t.Fatal(err)
		}
		raw = string(encoded)
	}
	request, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, strings.NewReader(raw))
	if err != nil {
		d.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+testKey)
	request.Header.Set("Content-Type", kind)
	request.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := d.client.Do(request)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer.StatusCode, content
}

type fields = map[string]any

// talks are the doors that take messages. Each returns the number of visible characters that are new to the server; a
// failed request ends the test, since a turn is accepted whatever the models do.
var talks = map[string]func(d doors, user string, messages []said) int{
	"turn": func(d doors, user string, messages []said) int {
		return d.turn(fields{"user_id": user, "messages": messages}, messages, 0)
	},
	"waited": func(d doors, user string, messages []said) int {
		return d.turn(fields{"user_id": user, "messages": messages, "wait": true}, messages, 0)
	},
	"imported": func(d doors, user string, messages []said) int { // by hippocampus import --from turns
		lines := ""
		for i, m := range messages {
			line, _ := json.Marshal(fields{"messages": []said{m}, "at": fmt.Sprintf("2026-01-02T03:04:%02dZ", i)})
			lines += string(line) + "\n"
		}
		var out, report strings.Builder
		err := turnfile.Import(d.t.Context(), turnfile.Target{
			Server: remote.Server{Base: d.url, Key: testKey, Client: d.client}, User: user, Out: &out, Err: &report,
		}, strings.NewReader(lines), int64(len(lines)))
		want := fmt.Sprintf("imported %d turns, skipped 0", len(messages))
		if err != nil || !strings.Contains(out.String(), want) {
			d.t.Errorf("import: %q %q %v", out.String(), report.String(), err)
		}
		return visible(contentsOf(messages)...)
	},
	"history": func(d doors, user string, messages []said) int { // the client reports the whole conversation each time
		n := d.turn(fields{"user_id": user, "conversation_id": user, "messages": messages}, messages, 0)
		more := append(slices.Clone(messages), said{"user", "We also have a heron."})
		return n + d.turn(fields{"user_id": user, "conversation_id": user, "messages": more}, more, len(messages))
	},
	"replaced": func(d doors, user string, messages []said) int {
		first := []said{{"user", "We have a stork."}}
		d.turn(fields{"user_id": user, "conversation_id": user, "messages": first, "id": user}, first, 0)
		return d.turn(fields{
			"user_id": user, "conversation_id": user, "messages": messages, "replaces": user, "id": user + "2",
		}, messages, 0)
	},
	"mem0": func(d doors, user string, messages []said) int {
		spoken := slices.DeleteFunc(slices.Clone(messages), func(m said) bool { return m.Role == "system" })
		spoken = append(spoken, said{"user", "We have a swan."})
		if status, answer := d.send("POST", "/mem0/v1/memories/", fields{"user_id": user, "messages": spoken},
			"application/json"); status/100 != 2 && !bytes.Contains(answer, []byte("the messages are kept")) {
			d.t.Errorf("mem0: %d %s", status, answer)
		}
		return visible(contentsOf(spoken)...)
	},
	"proxy": func(d doors, user string, messages []said) int {
		asked := []said{{"user", messages[0].Content + " We have a crane."}}
		if status, answer := d.send("POST", "/proxy/v1/chat/completions",
			fields{"model": "any", "user": user, "messages": asked}, "application/json"); status != http.StatusOK {
			d.t.Errorf("proxy: %d %s", status, answer)
		}
		return visible(asked[0].Content, "I see.")
	},
}

func contentsOf(messages []said) (contents []string) {
	for _, m := range messages {
		contents = append(contents, m.Content)
	}
	return contents
}

// turn reports a turn. The conversation has its first messages already.
func (d doors) turn(body fields, messages []said, known int) int {
	d.t.Helper()
	status, answer := d.send("POST", "/v1/turns", body, "application/json")
	var turn struct {
		Repeated int `json:"repeated_messages"`
	}
	if err := json.Unmarshal(answer, &turn); status/100 != 2 || err != nil || turn.Repeated != known {
		d.t.Errorf("turn: %d %s", status, answer)
	}
	return visible(contentsOf(messages[known:])...)
}

// items are the doors that take statements. Each returns the answer's status, and for each statement whether it is
// refused with a reason.
var items = map[string]func(d doors, user string, statements []string) (status int, refused []bool){
	"direct": func(d doors, user string, statements []string) (int, []bool) {
		refused := make([]bool, len(statements))
		for i, s := range statements {
			status, _ := d.send("POST", "/v1/memories", fields{"user_id": user, "content": s}, "application/json")
			if refused[i] = status == http.StatusBadRequest; !refused[i] && status/100 != 2 {
				return status, nil
			}
		}
		return http.StatusOK, refused
	},
	"batch": func(d doors, user string, statements []string) (int, []bool) {
		var list []fields
		for _, s := range statements {
			list = append(list, fields{"user_id": user, "content": s})
		}
		status, answer := d.send("POST", "/v1/memories/batch", fields{"memories": list}, "application/json")
		var results struct {
			Results []struct{ Error *struct{ Status int } }
		}
		if err := json.Unmarshal(answer, &results); err != nil ||
			len(results.Results) != len(list) && status == http.StatusOK {
			d.t.Errorf("batch: %d %s", status, answer)
		}
		refused := make([]bool, len(statements))
		for i, r := range results.Results {
			if r.Error != nil && r.Error.Status != http.StatusBadRequest {
				status = r.Error.Status
			}
			refused[i] = r.Error != nil
		}
		return status, refused
	},
	"written by mem0": func(d doors, user string, statements []string) (int, []bool) {
		var messages []said
		for _, s := range statements {
			messages = append(messages, said{"user", s})
		}
		status, _ := d.send("POST", "/mem0/v1/memories/", fields{"user_id": user, "messages": messages, "infer": false},
			"application/json")
		return status, make([]bool, len(statements))
	},
	"mcp": func(d doors, user string, statements []string) (int, []bool) {
		for _, s := range statements {
			status, answer := d.send("POST", "/mcp", fields{
				"jsonrpc": "2.0", "id": 1, "method": "tools/call",
				"params": fields{"name": "add_memory", "arguments": fields{"user_id": user, "content": s}},
			}, "application/json")
			if bytes.Contains(answer, []byte(`"isError":true`)) {
				return http.StatusServiceUnavailable, nil
			}
			if status != http.StatusOK {
				return status, nil
			}
		}
		return http.StatusOK, make([]bool, len(statements))
	},
	"file": func(d doors, user string, statements []string) (int, []bool) {
		status, _ := d.send("PUT", "/v1/files/memory.md?user_id="+user, "# Facts\n\n- "+strings.Join(statements, "\n- ")+"\n",
			"text/markdown")
		return status, make([]bool, len(statements))
	},
	"tool": func(d doors, user string, statements []string) (int, []bool) {
		status, _ := d.send("POST", "/v1/memory-tool", fields{
			"user_id": user, "command": "create", "path": "/memories/" + memory.NewID() + ".md",
			"file_text": strings.Join(statements, "\n\n"),
		}, "application/json")
		return status, make([]bool, len(statements))
	},
	"export": func(d doors, user string, statements []string) (int, []bool) {
		lines := `{"format":"hippocampus-export","version":1,"exported_at":"2026-01-03T00:00:00Z"}` + "\n"
		for _, s := range statements {
			line, _ := json.Marshal(fields{"memory": fields{
				"id": memory.NewID(), "user_id": user, "content": s,
				"type": "fact", "domain": "general_chat", "tags": []string{}, "importance": 0.8, "pinned": false,
				"status":     "active",
				"created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z",
				"last_accessed_at": "2026-01-02T03:04:05Z", "access_count": 0,
			}, "events": []any{}, "relations": []any{}})
			lines += string(line) + "\n"
		}
		lines += fmt.Sprintf(`{"end":{"memories":%d}}`+"\n", len(statements))
		status, answer := d.send("POST", "/v1/import", lines, "application/x-ndjson")
		if status == http.StatusOK && !bytes.Contains(answer, fmt.Appendf(nil, `"imported":%d`, len(statements))) {
			status = http.StatusServiceUnavailable // a later line of the answer states the reason
		}
		return status, make([]bool, len(statements))
	},
}

// kept returns the active memories of a user.
func (d doors) kept(user string) (contents []string, ofTurn map[string]int) {
	d.t.Helper()
	var page struct {
		Memories []struct {
			Content, Type string
			SourceTurnID  string `json:"source_turn_id"`
		}
	}
	d.decode(d.get("/v1/memories?limit=500&user_id="+escape(user)), &page)
	ofTurn = map[string]int{}
	for _, m := range page.Memories {
		contents = append(contents, m.Content)
		if m.Type == "message" {
			ofTurn[m.SourceTurnID] += visible(m.Content)
		}
	}
	return contents, ofTurn
}

func escape(user string) string { return strings.ReplaceAll(user, " ", "%20") }
