package chatfile

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
)

// chatGPT reads a chat of ChatGPT's export. Its messages are a tree, since questions can be edited and answers made
// again: those on the way to the current node are read. What the user never saw is left out: hidden messages, calls of
// tools and thoughts.
func chatGPT(raw json.RawMessage) (chat, error) {
	var c struct {
		ID             string      `json:"id"`
		ConversationID string      `json:"conversation_id"`
		Created        unixSeconds `json:"create_time"`
		Current        string      `json:"current_node"`
		Mapping        map[string]struct {
			Message *chatGPTMessage `json:"message"`
			Parent  string          `json:"parent"`
		} `json:"mapping"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return chat{}, err
	}
	if c.Mapping == nil {
		return chat{}, errForeign
	}
	read := chat{id: cmp.Or(c.ConversationID, c.ID, c.Current)}
	for node := c.Current; len(read.messages) <= len(c.Mapping); { // the bound ends a loop of parents
		n, ok := c.Mapping[node]
		if !ok {
			break
		}
		m := Message{}
		if n.Message != nil {
			m = n.Message.shown()
			m.ID = cmp.Or(m.ID, node)
			if m.At.IsZero() {
				m.At = c.Created.time()
			}
		}
		read.messages = append(read.messages, m)
		node = n.Parent
	}
	if len(read.messages) == 0 && len(c.Mapping) > 0 {
		return chat{}, errNowhere
	}
	slices.Reverse(read.messages)
	return read, nil
}

type chatGPTMessage struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	Created   unixSeconds `json:"create_time"`
	Recipient string      `json:"recipient"` // all, or a tool
	Content   struct {
		Type  string            `json:"content_type"`
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	Metadata struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// shown returns the message with the texts of its parts, and without content if the user did not see it.
func (m chatGPTMessage) shown() Message {
	shown := Message{ID: m.ID, Role: m.Author.Role, At: m.Created.time()}
	isText := m.Content.Type == "" || m.Content.Type == "text" || m.Content.Type == "multimodal_text"
	if m.Metadata.Hidden || m.Recipient != "" && m.Recipient != "all" || !isText {
		return shown
	}
	var texts []string
	for _, part := range m.Content.Parts {
		var text string
		if json.Unmarshal(part, &text) != nil {
			var spoken struct {
				Type string `json:"content_type"`
				Text string `json:"text"`
			}
			if json.Unmarshal(part, &spoken) == nil && spoken.Type == "audio_transcription" {
				text = spoken.Text
			}
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	shown.Content = strings.Join(texts, "\n")
	return shown
}

// unixSeconds is a time in seconds since 1970, with fractions; 0: unknown.
type unixSeconds float64

func (s unixSeconds) time() time.Time {
	if s <= 0 || float64(s) > 1<<37 { // of the year 6325
		return time.Time{}
	}
	whole, fraction := math.Modf(float64(s))
	return time.Unix(int64(whole), int64(fraction*1e6)*1e3).UTC()
}
