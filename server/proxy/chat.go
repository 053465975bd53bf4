package proxy

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// chat is POST /chat/completions.
type chat struct{}

// chatMessage is a message of a request, or of an answer.
type chatMessage struct {
	Role       string  `json:"role"`
	Content    content `json:"content"`
	Name       string  `json:"name"`
	Refusal    string  `json:"refusal"`
	ToolCallID string  `json:"tool_call_id"`
}

func (chat) read(body []byte) (*request, error) {
	all, err := fieldsOf(body)
	if err != nil {
		return nil, err
	}
	r := &request{body: all, role: "system"}
	sent := all["messages"]
	messages := sent.items()
	if len(messages) == 0 {
		return nil, errors.New("the request has no messages, or too many")
	}
	r.at = -1
	for _, item := range messages {
		var m chatMessage
		if json.Unmarshal(item.raw, &m) != nil {
			m = chatMessage{Role: roleOf(item.raw)}
		}
		isSystem := m.Role == "system" || m.Role == "developer"
		if isSystem && r.at < 0 {
			r.role = m.Role
		}
		if !isSystem && r.at < 0 {
			r.at = item.start
		}
		r.note(message{
			Role: m.Role, Content: m.Content.remembered(), Name: m.Name, ToolCallID: m.ToolCallID,
		}, m.Content.text, body[sent.start:item.end])
	}
	r.finish()
	return r, nil
}

func (chat) inject(body []byte, r *request, text string) []byte {
	return spliced(body, r.at, r.at, `{"role":`+quoted(r.role)+`,"content":`+quoted(text)+`},`)
}

func (chat) newAnswer() answer { return &chatAnswer{calls: map[int]*toolCall{}} }

// chatAnswer collects the first choice of an answer.
type chatAnswer struct {
	text, refusal []byte
	calls         map[int]*toolCall
	ended         bool
}

// chatEvent is a chunk of a stream, with deltas, or a whole answer.
type chatEvent struct {
	Choices []struct {
		Index        int       `json:"index"`
		Delta        chatDelta `json:"delta"`
		Message      chatDelta `json:"message"`
		FinishReason string    `json:"finish_reason"`
	} `json:"choices"`
}

type chatDelta struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"`
	ToolCalls []struct {
		Index *int `json:"index"`
		toolCall
	} `json:"tool_calls"`
}

func (a *chatAnswer) event(data []byte) {
	var e chatEvent
	if json.Unmarshal(data, &e) != nil {
		return
	}
	for _, choice := range e.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, d := range []chatDelta{choice.Delta, choice.Message} {
			a.add(d)
		}
		a.ended = a.ended || choice.FinishReason != ""
	}
}

func (a *chatAnswer) add(d chatDelta) {
	a.text = append(a.text, d.Content...)
	a.refusal = append(a.refusal, d.Refusal...)
	for i, part := range d.ToolCalls {
		if part.Index != nil {
			i = *part.Index
		}
		call := a.calls[i]
		if call == nil {
			call = &toolCall{Type: "function"}
			a.calls[i] = call
		}
		call.ID += part.ID
		call.Function.Name += part.Function.Name
		call.Function.Arguments += part.Function.Arguments
	}
}

func (a *chatAnswer) message() (m message, whole bool) {
	m = message{Role: "assistant", Refusal: shortened(string(a.refusal))}
	if len(a.text) > 0 {
		m.Content = shortened(string(a.text))
	}
	for _, i := range slices.Sorted(maps.Keys(a.calls)) {
		m.ToolCalls = append(m.ToolCalls, *a.calls[i])
	}
	return m, a.ended && !m.isEmpty()
}
