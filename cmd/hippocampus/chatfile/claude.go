package chatfile

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// claude reads a chat of Claude's export. Where a message has parts, its texts are read, since the field text names
// the others with placeholders.
func claude(raw json.RawMessage) (chat, error) {
	var c struct {
		UUID     string `json:"uuid"`
		Messages []struct {
			UUID    string     `json:"uuid"`
			Sender  string     `json:"sender"` // human or assistant
			Text    string     `json:"text"`
			Content []textPart `json:"content"`
			Created stamp      `json:"created_at"`
		} `json:"chat_messages"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return chat{}, err
	}
	if c.UUID == "" || c.Messages == nil {
		return chat{}, errForeign
	}
	read := chat{id: c.UUID}
	for _, m := range c.Messages {
		role := m.Sender
		if role == "human" {
			role = "user"
		}
		read.messages = append(read.messages, Message{
			ID: m.UUID, Role: role, Content: cmp.Or(textOf(m.Content), m.Text), At: time.Time(m.Created),
		})
	}
	return read, nil
}

// textPart is a part of a message.
type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// textOf joins the texts of a message's parts.
func textOf(parts []textPart) string {
	var texts []string
	for _, part := range parts {
		if part.Type == "text" && part.Text != "" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// stamp is a time in RFC 3339; any other text is an unknown time.
type stamp time.Time

func (s *stamp) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		*s = stamp(at)
	}
	return nil
}
