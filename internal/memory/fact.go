package memory

import (
	"encoding/json"
	"time"
)

// Fact is one piece of evidence on a timeline, with its outcome. Each user,
// type and key has one timeline. At most one fact of a timeline is valid at any
// instant: an accepted one, from ValidFrom (included) until ValidUntil (excluded).
type Fact struct {
	ID string // UUIDv7
	Owner
	Type, Key  string          // 1..MaxFactName characters, as normalised by knowledge/facts
	Value      json.RawMessage // at most MaxFactValue bytes; nil: no value is valid (FactEnded)
	Confidence float64         // 0..1; the highest of all evidence for this value
	ValidFrom  time.Time       // UTC, microseconds
	ValidUntil time.Time       // zero: until another fact is valid
	Source     string          // origin of the evidence, at most MaxFactSource characters; may be empty
	State      FactState
	Reason     string // for people: why this state
	RecordedAt time.Time

	MemoryID   string    // the memory that states or stated the fact; empty: no memory does
	EndsMemory bool      // the memory must end when the fact is no longer valid
	Due        time.Time // when its memory must be created or ended; zero: no change is due
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

// FactState is the outcome of a piece of evidence.
type FactState string

// The states of a fact. Accepted and ended ones make the timeline.
const (
	FactAccepted  FactState = "accepted"  // valid from ValidFrom until ValidUntil
	FactConfirmed FactState = "confirmed" // has the same value as another fact
	FactReplaced  FactState = "replaced"  // was accepted, but other facts now cover its whole interval
	FactRefused   FactState = "refused"   // weighed less than the valid fact
	FactEnded     FactState = "ended"     // the valid fact ended at ValidFrom without a successor
)

// FactStates lists every state.
var FactStates = []FactState{FactAccepted, FactConfirmed, FactReplaced, FactRefused, FactEnded}
