package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Withheld is a part of a message of a turn that no reader gets, since a statement of it was forgotten, or the app's
// policy never keeps it. The stored message keeps the part, so that the statement can be restored, and the message is
// recognised when a client reports it again.
type Withheld struct {
	Message   int       `json:"message"`             // index in Turn.Messages
	Text      string    `json:"text"`                // not empty
	Statement string    `json:"statement,omitempty"` // id of the memory that was to be forgotten
	Policy    int       `json:"policy,omitempty"`    // version of the policy that never keeps it; without a statement
	At        time.Time `json:"at"`                  // when it was forgotten, or was found
}

// Readable returns the messages of the turn without what is withheld; of a withdrawn turn only their roles and kinds.
// Their number and order are those of Messages; nothing may be left of a content.
func (t Turn) Readable() []Message {
	if t.Status == TurnWithdrawn {
		messages := make([]Message, len(t.Messages))
		for i, m := range t.Messages {
			messages[i].Role, messages[i].Kind = m.Role, m.Kind
		}
		return messages
	}
	if len(t.Withheld) == 0 {
		return t.Messages
	}
	messages := slices.Clone(t.Messages)
	withheld := slices.SortedFunc(slices.Values(t.Withheld), func(a, b Withheld) int { // a text may be a part of another
		return cmp.Compare(len(b.Text), len(a.Text))
	})
	for _, w := range withheld {
		if w.Message >= len(messages) {
			continue
		}
		m := &messages[w.Message]
		if left := strings.ReplaceAll(m.Content, w.Text, ""); left != m.Content {
			m.Content = strings.TrimSpace(left)
			m.Tokens, m.Raw = 0, nil // they are those of the whole content
		}
	}
	return messages
}
