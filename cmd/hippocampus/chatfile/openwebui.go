package chatfile

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// openWebUI reads a chat of Open WebUI's export, whose messages are a tree too. The export of an administrator has the
// chats of all users.
func openWebUI(raw json.RawMessage) (chat, error) {
	var c struct {
		ID   string `json:"id"`
		User string `json:"user_id"`
		Chat struct {
			History struct {
				Current  string                      `json:"currentId"`
				Messages map[string]openWebUIMessage `json:"messages"`
			} `json:"history"`
			Messages []openWebUIMessage `json:"messages"`
		} `json:"chat"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return chat{}, err
	}
	history, listed := c.Chat.History, c.Chat.Messages
	if c.ID == "" || history.Messages == nil && listed == nil {
		return chat{}, errForeign
	}
	read := chat{id: c.ID, user: c.User}
	for node := history.Current; len(read.messages) <= len(history.Messages); { // the bound ends a loop of parents
		m, ok := history.Messages[node]
		if !ok {
			break
		}
		m.ID = cmp.Or(m.ID, node)
		read.messages = append(read.messages, m.message())
		node = m.Parent
	}
	slices.Reverse(read.messages)
	if len(read.messages) == 0 {
		for _, m := range listed {
			read.messages = append(read.messages, m.message())
		}
	}
	if len(read.messages) == 0 && len(history.Messages) > 0 {
		return chat{}, errNowhere
	}
	return read, nil
}

type openWebUIMessage struct {
	ID      string          `json:"id"`
	Parent  string          `json:"parentId"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string, or parts
	At      unixSeconds     `json:"timestamp"`
}

func (m openWebUIMessage) message() Message {
	var text string
	if json.Unmarshal(m.Content, &text) != nil {
		var parts []textPart
		_ = json.Unmarshal(m.Content, &parts) // another shape holds no text
		text = textOf(parts)
	}
	at := m.At.time()
	if m.At > 1e11 { // milliseconds, in old exports
		at = time.UnixMilli(int64(m.At)).UTC()
	}
	return Message{ID: m.ID, Role: m.Role, Content: text, At: at}
}
