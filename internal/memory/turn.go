package memory

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// The roles of the messages that are remembered.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Message is one utterance of a turn.
type Message struct {
	// ID is the client's own, unique in the conversation of the turn; see MaxIDBytes. It may be empty.
	ID string `json:"id,omitempty"`

	Role    string `json:"role"`    // see MessageRoles
	Content string `json:"content"` // at most MaxMessageBytes
	Name    string `json:"name,omitempty"`

	At time.Time `json:"at,omitzero"` // when it was said; zero: at the time of the turn, see Turn.SaidAt

	Kind    MessageKind    `json:"kind,omitempty"` // empty: Chat
	Tags    []string       `json:"tags,omitempty"` // at most MaxTags
	Context MessageContext `json:"context,omitzero"`

	// Tokens of the content, counted if its turn has a conversation; 0 in turns
	// that were stored before tokens were counted.
	Tokens int `json:"tokens,omitempty"`

	// Raw is the message as the client sent it, a JSON object of at most MaxRawBytes,
	// if the other fields do not hold all of it: it has parts other than text, calls
	// of tools or a refusal. Else nil.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Turn is a raw turn as a backend reported it. It is durable before the request is answered.
type Turn struct {
	ID string // UUIDv7
	Owner
	ClientID       string // idempotency key, unique in the app; may be empty
	AgentID        string
	ConversationID string
	Messages       []Message       // 1..MaxMessages
	Metadata       json.RawMessage // a JSON object or nil
	At             time.Time       // when it was said; becomes CreatedAt of its memories
	ExpiresAt      time.Time       // of its memories; zero: its facts expire as the scorer proposes
	Expires        Expiry          // as the client gives it; zero in a turn that is read
	Offset         string          // offset of At as reported, such as +08:00; empty: UTC, or in a turn that is read
	Zone           *time.Location  // in which its days are; nil: UTC, or in a turn that is read
	Hash           string          // of the whole request; distinguishes a repeated client id from a reused one
	FirstEvent     int64           // number of its first message in the conversation, from 1; 0: no conversation
	Repeated       int             // messages of a report that were known already; 0 in a turn that is read
	Replaces       string          // id or client id of a turn that is withdrawn with it; empty in a turn that is read
	People         People          // who takes part, as the client gives it; empty in a turn that is read
	Shared         Share           // zero: the user is the only participant
	Withheld       []Withheld      // see Readable; in the order in which they were forgotten
	LeftOut        []Omission      // the parts of the messages that are not remembered, in their order
	Memory         Mode            // unless On, nothing but the log of its conversation has its messages
	KeyMemory      Mode            // of the key that reports it; On in a turn that is read
	MemoryLevel    Level           // what Memory is set for; empty in a turn that is read
	Policy         *Policy         // of its app, for the scorer; nil without one, or in a turn that is read
	Scored         Scoring         // zero until it is processed

	Status      TurnStatus
	Attempts    int    // answers of the scorer, including refused ones; an unavailable scorer does not count
	LastError   string // of the latest failed attempt; empty after success
	AcceptedAt  time.Time
	QueuedAt    time.Time // when it was accepted or last replayed; its age is measured from here
	ProcessedAt time.Time // zero until processed
	WithdrawnAt time.Time // zero unless withdrawn
}

// SaidAt is when the message at an index was said. Its memories have this time.
func (t Turn) SaidAt(message int) time.Time { return cmp.Or(t.Messages[message].At, t.At) }

// Local returns an instant in the Zone of the turn.
func (t Turn) Local(at time.Time) time.Time { return at.In(cmp.Or(t.Zone, time.UTC)) }

// Said returns the first and the last instant at which a message of the turn was said; At without messages.
func (t Turn) Said() (first, last time.Time) {
	first, last = t.At, t.At
	for i := range t.Messages {
		at := t.SaidAt(i)
		if i == 0 || at.Before(first) {
			first = at
		}
		if i == 0 || at.After(last) {
			last = at
		}
	}
	return first, last
}

// MessageIDs lists the ids that the client gave to messages.
func (t Turn) MessageIDs() (ids []string) {
	for _, m := range t.Messages {
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// LastEvent is the number of the turn's last message in the conversation.
func (t Turn) LastEvent() int64 { return t.FirstEvent + int64(len(t.Messages)) - 1 }

// Tokens is the sum over the turn's messages.
func (t Turn) Tokens() (n int) {
	for _, m := range t.Messages {
		n += m.Tokens
	}
	return n
}

// TurnStatus is the progress of a turn.
type TurnStatus string

// The statuses of a turn.
const (
	TurnAccepted  TurnStatus = "accepted"  // durable and queued; attempts may have failed
	TurnProcessed TurnStatus = "processed" // its candidates have verdicts
	TurnFailed    TurnStatus = "failed"    // not retried; can be replayed
	TurnWithdrawn TurnStatus = "withdrawn" // its client has taken it back: no reader gets its messages
)

// TurnStatuses lists every status.
var TurnStatuses = []TurnStatus{TurnAccepted, TurnProcessed, TurnFailed, TurnWithdrawn}

// Candidate is a fact that the scorer proposed, with its verdict.
type Candidate struct {
	ID         string
	TurnID     string
	Content    string
	Importance float64
	Domain     Domain
	Type       Type
	ExpiresAt  time.Time // of the memory that it becomes; zero: never
	Tags       []string  // of the memory that it becomes: the categories of the app's policy
	Verdict    Verdict
	Reason     string // for people: why this verdict
	Scorer     string // "rules" or the model's name
	MemoryID   string // the memory it became or was merged into, if any
	CreatedAt  time.Time
}

// Verdict is the gate's decision about a candidate.
type Verdict string

// The verdicts.
const (
	Kept           Verdict = "kept"            // became a memory
	BelowThreshold Verdict = "below_threshold" // importance under the gate
	Duplicate      Verdict = "duplicate"       // an active memory has the same text
	Merged         Verdict = "merged"          // became one with a similar active memory
	Echo           Verdict = "echo"            // merely repeats memories returned by a recent recall
	InvalidAnswer  Verdict = "invalid"         // the scorer's answer was refused, or the user has not said it
)

// Verdicts lists every verdict.
var Verdicts = []Verdict{Kept, BelowThreshold, Duplicate, Merged, Echo, InvalidAnswer}

// Event is one step of a memory's history. Events are never changed or removed.
type Event struct {
	ID       string
	MemoryID string
	Kind     EventKind
	Cause    string          // "turn <id>", "api", "reconciler", ...
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

// Key is an API key as it is stored, without its secret.
type Key struct {
	ID        string
	Hash      string // hex SHA-256 of the secret
	Name      string
	AppID     string // empty: it belongs to no app, and has the role operator
	UserID    string // empty: it serves all users of its app; else it reads and writes what belongs to this user alone
	Role      Role
	Memory    Mode       // for all requests with it
	Pool      PoolAccess // to the shared pool; empty: see PoolAccess
	CreatedAt time.Time
	CreatedBy string    // id of the key that created it; empty: a command or the server's start did
	RevokedAt time.Time // zero: valid
	RevokedBy string    // id of the key that revoked it; empty: a command did, or it is valid
}

// MaxKeys is how many valid keys an app may have.
const MaxKeys = 1000

// Role is what a key may do. Each role includes the weaker ones.
type Role string

// The roles, weakest first.
const (
	RoleRead     Role = "read"
	RoleWrite    Role = "write"
	RoleAdmin    Role = "admin"    // of one app
	RoleOperator Role = "operator" // of the whole server
)

// Roles lists every role, weakest first.
var Roles = []Role{RoleRead, RoleWrite, RoleAdmin, RoleOperator}

// Includes reports whether r may do everything that the other role may do.
func (r Role) Includes(other Role) bool { return slices.Index(Roles, r) >= slices.Index(Roles, other) }
