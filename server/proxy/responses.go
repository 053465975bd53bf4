package proxy

import (
	"encoding/json"
	"errors"
	"strings"
)

// responses is POST /responses.
type responses struct{}

// responseItem is an item of a request's input, or of an answer's output.
type responseItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   content         `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

func (responses) read(body []byte) (*request, error) {
	all, err := fieldsOf(body)
	if err != nil {
		return nil, err
	}
	r := &request{body: all}
	input := all["input"]
	var text string
	if json.Unmarshal(input.raw, &text) == nil && text != "" {
		r.note(message{Role: "user", Content: shortened(text)}, text, body[input.start:input.end])
		r.finish()
		return r, nil
	}
	items := input.items()
	if len(items) == 0 {
		return nil, errors.New("the request has no input, or too much")
	}
	for _, each := range items {
		var item responseItem
		if json.Unmarshal(each.raw, &item) != nil {
			item = responseItem{Role: roleOf(each.raw)}
		}
		r.noteItem(item, body[input.start:each.end])
	}
	r.finish()
	return r, nil
}

func (r *request) noteItem(item responseItem, upTo []byte) {
	switch {
	case item.Role != "" && (item.Type == "" || item.Type == "message"):
		r.note(message{Role: item.Role, Content: item.Content.remembered()}, item.Content.text, upTo)
	case strings.HasSuffix(item.Type, "_output"):
		var output content
		if len(item.Output) > 0 {
			_ = json.Unmarshal(item.Output, &output) // an output of another form says nothing
		}
		m := message{Role: "tool", Content: output.remembered(), ToolCallID: item.CallID}
		r.note(m, output.text, upTo)
	default: // a call or a thought of the assistant
		r.note(message{Role: "assistant"}, "", upTo)
	}
}

// inject adds the text to the end of the instructions.
func (responses) inject(body []byte, r *request, text string) []byte {
	instructions, has := r.body["instructions"]
	var said string
	switch {
	case !has:
		return spliced(body, r.body["input"].start, r.body["input"].end,
			string(r.body["input"].raw)+`,"instructions":`+quoted(text))
	case json.Unmarshal(instructions.raw, &said) != nil || said == "": // null, or an empty text
		return spliced(body, instructions.start, instructions.end, quoted(text))
	}
	return spliced(body, instructions.end-1, instructions.end, quoted("\n\n" + text)[1:])
}

func (responses) newAnswer() answer { return &responsesAnswer{} }

// responsesAnswer reads the response that a stream ends with, or that is the whole answer.
type responsesAnswer struct {
	output []responseItem
	ended  bool
}

func (a *responsesAnswer) event(data []byte) {
	type response struct {
		Status string         `json:"status"`
		Output []responseItem `json:"output"`
	}
	var e struct {
		Type     string   `json:"type"`
		Response response `json:"response"`
		response
	}
	if json.Unmarshal(data, &e) != nil {
		return
	}
	switch {
	case e.Type == "response.completed" || e.Type == "response.incomplete":
		a.output, a.ended = e.Response.Output, true
	case e.Type == "" && (e.Status == "completed" || e.Status == "incomplete"):
		a.output, a.ended = e.response.Output, true
	}
}

func (a *responsesAnswer) message() (m message, whole bool) {
	m.Role = "assistant"
	var texts []string
	for _, item := range a.output {
		switch item.Type {
		case "message":
			if item.Content.text != "" {
				texts = append(texts, item.Content.text)
			}
		case "function_call":
			m.ToolCalls = append(m.ToolCalls, toolCall{
				ID: item.CallID, Type: "function", Function: toolFunction{item.Name, item.Arguments},
			})
		}
	}
	if len(texts) > 0 {
		m.Content = shortened(strings.Join(texts, "\n"))
	}
	return m, a.ended && !m.isEmpty()
}
