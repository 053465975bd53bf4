package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"hippocampus/internal/attachment"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// messageRequest is a message of a turn, in the shape of a message of OpenAI's
// chat completions: https://platform.openai.com/docs/api-reference/chat/create
type messageRequest struct {
	ID      string                `json:"id"`
	Role    string                `json:"role"`
	Content any                   `json:"content"` // a string, a list of parts, or nil
	Name    string                `json:"name"`
	At      string                `json:"at"`
	Kind    memory.MessageKind    `json:"kind"`
	Tags    []string              `json:"tags"`
	Context memory.MessageContext `json:"context"`

	*MessageExtras // nil: the message lacks all of its fields
}

// MessageExtras are the fields of a message that few messages have. It is
// exported for encoding/json, which allocates it for the messages that have one.
type MessageExtras struct {
	Refusal      string `json:"refusal"`
	ToolCalls    []any  `json:"tool_calls"`
	ToolCallID   string `json:"tool_call_id"`
	FunctionCall any    `json:"function_call"`
	Audio        any    `json:"audio"`
	Annotations  []any  `json:"annotations"`
	Reasoning    string `json:"reasoning_content"`
}

// extras returns the fields that few messages have.
func (m messageRequest) extras() MessageExtras {
	return frame.OrDefault(m.MessageExtras, MessageExtras{})
}

// isPlain reports whether memory.Message holds the whole message without its Raw.
func (m messageRequest) isPlain() bool {
	_, text := m.Content.(string)
	e := m.extras()
	return text && e.Refusal == "" && len(e.ToolCalls) == 0 && e.ToolCallID == "" && e.FunctionCall == nil &&
		e.Audio == nil && len(e.Annotations) == 0 && e.Reasoning == ""
}

// text returns the words of the message: its content, else its refusal.
func (m messageRequest) text(path string, c *frame.Checks) string {
	e := m.extras()
	switch content := m.Content.(type) {
	case string:
		return cmp.Or(content, e.Refusal)
	case []any:
		return cmp.Or(textOfParts(content, path+"content", c), e.Refusal)
	}
	if e.Refusal == "" && len(e.ToolCalls) == 0 && e.FunctionCall == nil && e.Audio == nil {
		c.Note(path+"content", "is missing: only a message with tool_calls, function_call, refusal or audio may lack it")
	}
	return e.Refusal
}

var partType = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// partNames are the names of parts that are not text, by their type; a part of another type
// is named by its type.
var partNames = map[string]string{
	"image_url": "image", "input_image": "image", "input_audio": "audio", "input_file": "file", "video_url": "video",
}

// textOfParts joins the texts of content parts, and names the others: "[image: A dog, https://example.com/dog.jpg]".
func textOfParts(parts []any, path string, c *frame.Checks) string {
	lines := make([]string, len(parts))
	for i, part := range parts {
		fields, _ := part.(map[string]any) // openapi.yaml admits nothing else
		kind, _ := fields["type"].(string)
		if !partType.MatchString(kind) {
			c.Note(fmt.Sprintf("%s[%d].type", path, i), "is not 1 to 64 letters, digits, dots, dashes and underscores")
		}
		switch field := kind; field {
		case "text", "input_text", "output_text":
			field = "text"
			fallthrough
		case "refusal":
			said, ok := fields[field].(string)
			if !ok {
				c.Note(fmt.Sprintf("%s[%d].%s", path, i, field), "is missing")
			}
			lines[i] = said
		default:
			lines[i] = attachment.Of(fields).Note(cmp.Or(partNames[kind], kind))
		}
	}
	return strings.Join(lines, "\n")
}

// messagesIn converts and checks the messages of a turn. Messages that are not plain keep
// their JSON from the body.
func messagesIn(r *frame.Request, asked []messageRequest) []memory.Message {
	var sent struct {
		Messages []json.RawMessage `json:"messages"`
	}
	messages := make([]memory.Message, len(asked))
	first := map[string]int{} // by id
	for i, m := range asked {
		path := fmt.Sprintf("messages[%d].", i)
		messages[i] = memory.Message{
			ID: m.ID, Role: m.Role, Content: m.text(path, &r.Checks), Name: m.Name, Kind: m.Kind, Tags: m.Tags,
			Context: m.Context, At: r.Time(path+"at", m.At),
		}
		r.Note(path+"id", memory.CheckID(m.ID, true))
		if before, repeated := first[m.ID]; repeated && m.ID != "" {
			r.Note(path+"id", fmt.Sprintf("is the id of messages[%d] too: give each message its own", before))
		} else {
			first[m.ID] = i
		}
		r.Note(path+"content", memory.CheckMessage(messages[i].Content))
		r.Note(path+"name", memory.CheckID(m.Name, true))
		r.Note(path+"tags", memory.CheckTags(m.Tags))
		if m.isPlain() {
			continue
		}
		if sent.Messages == nil {
			_ = json.Unmarshal(r.Body, &sent) // the body was decoded before
		}
		var raw bytes.Buffer
		_ = json.Compact(&raw, sent.Messages[i])
		messages[i].Raw = raw.Bytes()
		r.Note(strings.TrimSuffix(path, "."), memory.CheckRawMessage(messages[i].Raw))
	}
	return messages
}
