package proxy

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

// shape is an API of OpenAI whose requests get memory.
type shape interface {
	// read finds the messages of a request.
	read(body []byte) (*request, error)
	// inject returns the body with a text about the user.
	inject(body []byte, r *request, text string) []byte
	// newAnswer returns a reader of the answer.
	newAnswer() answer
}

// answer collects the assistant's message from an answer.
type answer interface {
	// event reads one event of a stream, or the whole answer of a request that does not stream.
	event(data []byte)
	// message returns the assistant's message; whole is false if the answer has not ended, or says nothing.
	message() (m message, whole bool)
}

// shapeOf returns the shape of requests to a path, or nil.
func shapeOf(method, path string) shape {
	if method != http.MethodPost {
		return nil
	}
	switch strings.Trim(path, "/") {
	case "chat/completions":
		return chat{}
	case "responses":
		return responses{}
	}
	return nil
}

// request has the parts of a request that the proxy needs.
type request struct {
	body     fields
	query    string    // the user's last words; empty: the user said nothing
	previous string    // the user's words before the last ones, and the answer to them
	answer   string    // the assistant's last words since the user's
	present  []string  // the texts of the messages
	said     []message // the messages since the assistant's last one
	prefix   []byte    // the messages up to the user's last one
	goesOn   bool      // the user's last message is not the last: tools have answered

	at   int    // where chat completions insert a message
	role string // of that message
}

// message is a message of a turn, as /v1/turns takes it.
type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"`
	Name       string     `json:"name,omitempty"`
	Refusal    string     `json:"refusal,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// admitted returns a message without what the API refuses: names and ids of an unusual form, and calls and arguments
// beyond its limits.
func (m message) admitted() message {
	if memory.CheckID(m.Name, true) != "" {
		m.Name = ""
	}
	if memory.CheckID(m.ToolCallID, true) != "" {
		m.ToolCallID = ""
	}
	m.ToolCalls = slices.Clone(m.ToolCalls[:min(len(m.ToolCalls), mostCalls)])
	left := memory.MaxMessageBytes
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		c.ID, c.Function.Name = cut(withoutNUL(c.ID), memory.MaxIDBytes), cut(withoutNUL(c.Function.Name), memory.MaxIDBytes)
		c.Function.Arguments = cut(withoutNUL(c.Function.Arguments), left)
		left -= len(c.Function.Arguments)
	}
	return m
}

// mostCalls is the greatest number of calls of tools in a message of the API.
const mostCalls = 128

// isEmpty reports whether a message says and does nothing.
func (m message) isEmpty() bool {
	return (m.Content == nil || m.Content == "") && m.Refusal == "" && len(m.ToolCalls) == 0
}

// offersTools reports whether the model may call tools, whose answers then continue the same user's message.
func (r *request) offersTools() bool {
	return r.body["tools"].raw != nil || r.body["functions"].raw != nil
}

// note adds one message to what a request says; upTo holds the bytes of the messages up to the end of this one.
func (r *request) note(m message, text string, upTo []byte) {
	if text != "" {
		r.present = append(r.present, shortened(text))
	}
	r.goesOn = true
	switch m.Role {
	case "assistant":
		r.said, r.answer = nil, text
	case "user":
		r.previous = strings.TrimSpace(cutRunes(r.query, mostPrevious) + " " +
			memory.Clip(withoutNUL(r.answer), mostPrevious))
		r.answer = ""
		r.query = cutRunes(strings.TrimSpace(withoutNUL(text)), memory.MaxQueryRunes)
		r.prefix = upTo
		r.goesOn = false
		fallthrough
	case "tool", "function":
		if m = m.admitted(); !m.isEmpty() {
			r.said = append(r.said, m)
		}
	}
}

// roleOf returns the role of a message whose rest the proxy cannot read. Such a message is not remembered.
func roleOf(raw []byte) string {
	var m struct {
		Role string `json:"role"`
	}
	_ = json.Unmarshal(raw, &m) // a role of another form is no role
	return m.Role
}

// The limits of the API.
const (
	mostPresent = 100
	mostSaid    = 50
	mostBytes   = 512 << 10 // of either of them, as JSON

	mostPrevious = 200 // characters of each message before the user's last words
)

// finish limits what a request says to the newest parts.
func (r *request) finish() {
	r.present = newest(r.present, mostPresent)
	r.said = newest(r.said, mostSaid)
}

// newest returns the end of a list: at most most items, and at most mostBytes.
func newest[T any](list []T, most int) []T {
	bytes := 0
	for from := len(list) - 1; from >= 0; from-- {
		raw, _ := json.Marshal(list[from]) // texts can always be encoded
		if bytes += len(raw); len(list)-from > most || bytes > mostBytes {
			return list[from+1:]
		}
	}
	return list
}
