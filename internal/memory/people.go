package memory

import "encoding/json"

// MaxPeople is how many people may take part in a turn.
const MaxPeople = 20

// People are the ids of the users who take part in a turn, by the names that its messages use.
type People map[string]string

// NameOf returns the name of a user; empty: the user has no name.
func (p People) NameOf(userID string) string {
	for name, id := range p {
		if id == userID {
			return name
		}
	}
	return ""
}

// Share says that a turn is a user's copy of a turn in which several people take part. In the copy, the user's own
// messages have no name, and those of the others have theirs.
type Share struct {
	Turn string `json:"turn"`           // id of the copy of the user in whose name the turn was given
	Name string `json:"name,omitempty"` // of the user in the turn; empty: the client gave no name
}

// Is reports whether a turn is such a copy.
func (s Share) Is() bool { return s.Turn != "" }

// IsOthers reports whether another person than the user of a turn says a message.
func (t Turn) IsOthers(m Message) bool { return t.Shared.Is() && m.Role == RoleUser && m.Name != "" }

// Participant is a user who takes part in a conversation, by a name.
type Participant struct {
	Owner
	ConversationID string
	Name           string
}

// saidOf is the part of the metadata of a memory that names the user about whom another participant has said it.
type saidOf struct {
	Of string `json:"said_of,omitempty"`
}

// SaidOf is the metadata of a memory that another participant has said about a user with a name.
func SaidOf(name string) json.RawMessage {
	metadata, _ := json.Marshal(saidOf{Of: name}) // a string cannot fail
	return metadata
}

// SaidOf returns the name of the user about whom another participant has said the memory; empty: the user said it, or
// takes part in no conversation of several people.
func (m *Memory) SaidOf() string {
	if len(m.Metadata) == 0 || NameOf(m.Speaker) == "" {
		return ""
	}
	var t saidOf
	_ = json.Unmarshal(m.Metadata, &t) // other metadata may have another type there
	return t.Of
}
