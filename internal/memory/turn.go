package memory

import (
	"encoding/json"
	"time"
)

// Message is one utterance of a turn.
type Message struct {
	Role    string `json:"role"`    // "user", "assistant", "system" or "tool"
	Content string `json:"content"` // at most MaxMessageBytes
	Name    string `json:"name,omitempty"`

	Kind    MessageKind    `json:"kind,omitempty"` // empty: Chat
	Tags    []string       `json:"tags,omitempty"` // at most MaxTags
	Context MessageContext `json:"context,omitzero"`

	// Tokens of the content, counted where its turn has a conversation; 0 in
	// turns of before they were counted.
	Tokens int `json:"tokens,omitempty"`
}

// Turn is a raw turn as a backend reported it. It is durable before it is answered.
type Turn struct {
	ID string // UUIDv7
	Owner
	ClientID       string // idempotency key, unique in the app; empty: none
	AgentID        string
	ConversationID string
	Messages       []Message       // 1..MaxMessages
	Metadata       json.RawMessage // a JSON object or nil
	At             time.Time       // when it was said; memories made from it are created then
	Hash           string          // of all that the client sent; tells a repeated client id from a reused one
	FirstEvent     int64           // number of its first message in the conversation, from 1; 0: it has no conversation

	Status      TurnStatus
	Attempts    int    // answers of the scorer, refused ones included; its being away costs none
	LastError   string // of the newest attempt that failed; empty after success
	AcceptedAt  time.Time
	QueuedAt    time.Time // when it was accepted or last replayed: its age counts from here
	ProcessedAt time.Time // zero until processed
}

// LastEvent is the number of its last message in the conversation.
func (t Turn) LastEvent() int64 { return t.FirstEvent + int64(len(t.Messages)) - 1 }

// Tokens are those of all its messages.
func (t Turn) Tokens() (n int) {
	for _, m := range t.Messages {
		n += m.Tokens
	}
	return n
}

// TurnStatus is how far a turn has come.
type TurnStatus string

// The statuses of a turn.
const (
	TurnAccepted  TurnStatus = "accepted"  // durable and queued; may have failed attempts behind it
	TurnProcessed TurnStatus = "processed" // its candidates have verdicts
	TurnFailed    TurnStatus = "failed"    // given up; can be replayed
)

// TurnStatuses lists every status.
var TurnStatuses = []TurnStatus{TurnAccepted, TurnProcessed, TurnFailed}

// Candidate is a fact that the scorer proposed, with what became of it.
type Candidate struct {
	ID         string
	TurnID     string
	Content    string
	Importance float64
	Domain     Domain
	Type       Type
	Verdict    Verdict
	Reason     string // for people: why this verdict
	Scorer     string // "rules" or the model's name
	MemoryID   string // the memory it became or was merged into; empty: none
	CreatedAt  time.Time
}

// Verdict is what the gate decided about a candidate.
type Verdict string

// The verdicts.
const (
	Kept           Verdict = "kept"            // became a memory
	BelowThreshold Verdict = "below_threshold" // importance under the gate
	Duplicate      Verdict = "duplicate"       // says what an active memory says, word for word
	Merged         Verdict = "merged"          // near enough to an active memory to be one with it
	Echo           Verdict = "echo"            // repeats what recall has just handed out
	InvalidAnswer  Verdict = "invalid"         // the scorer's answer was refused
)

// Verdicts lists every verdict.
var Verdicts = []Verdict{Kept, BelowThreshold, Duplicate, Merged, Echo, InvalidAnswer}

// Event is one step of a memory's history. Events are only ever added.
type Event struct {
	ID       string
	MemoryID string
	Kind     EventKind
	Cause    string          // what led to it: "turn <id>", "api", "reconciler", ...
	Detail   json.RawMessage // what changed: a JSON object, or nil
	At       time.Time
}

// EventKind names a step of a memory's history.
type EventKind string

// The event kinds.
const (
	EventCreated      EventKind = "created"
	EventUpdated      EventKind = "updated"
	EventMerged       EventKind = "merged"
	EventSuperseded   EventKind = "superseded"
	EventConsolidated EventKind = "consolidated"
	EventForgotten    EventKind = "forgotten"
	EventRestored     EventKind = "restored"
	EventPurged       EventKind = "purged"
)

// EventKinds lists every event kind.
var EventKinds = []EventKind{
	EventCreated, EventUpdated, EventMerged, EventSuperseded,
	EventConsolidated, EventForgotten, EventRestored, EventPurged,
}

// Key is an API key as it is stored: its secret is not.
type Key struct {
	ID        string
	Hash      string // hex SHA-256 of the secret
	Name      string
	AppID     string
	Role      Role
	CreatedAt time.Time
	RevokedAt time.Time // zero: valid
}

// Role is what a key may do: each role may do what the ones before it may.
type Role string

// The roles, weakest first.
const (
	RoleRead  Role = "read"
	RoleWrite Role = "write"
	RoleAdmin Role = "admin"
)

// Roles lists every role, weakest first.
var Roles = []Role{RoleRead, RoleWrite, RoleAdmin}
