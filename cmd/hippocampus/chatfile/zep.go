package chatfile

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// zep reads a thread of Zep: the answer of its API to GET /threads/ID/messages, or of /sessions/ID/messages before,
// where role_type has the role and role the name. Without an id of the thread, its first message names it.
func zep(raw json.RawMessage) (chat, error) {
	var c struct {
		User     string       `json:"user_id"`
		Messages []zepMessage `json:"messages"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return chat{}, err
	}
	if c.Messages == nil {
		return chat{}, errForeign
	}
	read := chat{user: c.User}
	for _, m := range c.Messages {
		if m.UUID == "" {
			return chat{}, errForeign
		}
		read.id = cmp.Or(read.id, m.Thread, m.UUID)
		at := time.Time(m.Said)
		if at.IsZero() {
			at = time.Time(m.Created)
		}
		read.messages = append(read.messages,
			Message{ID: m.UUID, Role: strings.ToLower(cmp.Or(m.Kind, m.Role)), Content: m.Content, At: at})
	}
	return read, nil
}

type zepMessage struct {
	UUID    string `json:"uuid"`
	Thread  string `json:"thread_uuid"`
	Role    string `json:"role"`
	Kind    string `json:"role_type"`
	Content string `json:"content"`
	Said    stamp  `json:"reference_time"`
	Created stamp  `json:"created_at"` // when Zep got it
}
