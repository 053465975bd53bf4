package memory

import (
	"encoding/json"
	"time"
)

// Fact is one piece of evidence on a timeline, and what became of it. A user,
// type and key have one timeline, of which at most one fact is valid at any
// instant: an accepted one, from ValidFrom until before ValidUntil.
type Fact struct {
	ID string // UUIDv7
	Owner
	Type, Key  string          // 1..MaxFactName characters, in the form that knowledge/facts gives them
	Value      json.RawMessage // at most MaxFactValue bytes; nil: nothing is valid (FactEnded)
	Confidence float64         // 0..1; the highest of what said the same
	ValidFrom  time.Time       // UTC, microseconds
	ValidUntil time.Time       // zero: until something else is valid
	Source     string          // where it is from, at most MaxFactSource characters; may be empty
	State      FactState
	Reason     string // for people: why this state
	RecordedAt time.Time

	MemoryID string    // the memory that tells it, or told it; empty: none has
	Told     bool      // that memory is to end when this is no longer valid
	Due      time.Time // when its memory must begin or end; zero: it need not
}

// The limits of a fact.
const (
	MaxFactName   = 128     // characters of a type and of a key
	MaxFactValue  = 4 << 10 // bytes of JSON
	MaxFactSource = 256     // characters
)

// Valid reports whether the fact is valid at an instant.
func (f *Fact) Valid(at time.Time) bool {
	return f.State == FactAccepted && !at.Before(f.ValidFrom) && (f.ValidUntil.IsZero() || at.Before(f.ValidUntil))
}

// FactState is what became of a piece of evidence.
type FactState string

// The states of a fact. Accepted and ended ones make the timeline.
const (
	FactAccepted  FactState = "accepted"  // valid from ValidFrom until ValidUntil
	FactConfirmed FactState = "confirmed" // says what another one says
	FactReplaced  FactState = "replaced"  // was accepted, and nothing is left of its time
	FactRefused   FactState = "refused"   // weighed less than what is valid
	FactEnded     FactState = "ended"     // what was valid ended at ValidFrom, and nothing followed
)

// FactStates lists every state.
var FactStates = []FactState{FactAccepted, FactConfirmed, FactReplaced, FactRefused, FactEnded}
