// Package scorer proposes facts from turns:
//
//	turn -> candidate facts, each with importance, domain and type
//
// A language model scores if a chat key is configured, else rules do. An answer without facts
// is valid. Package ingest decides what becomes of the facts.
package scorer

import (
	"context"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/scorer/voice"
)

// MaxFacts bounds the facts of one turn; an answer with more is refused.
const MaxFacts = 50

// Fact is one proposed statement, in the language of the turn.
type Fact struct {
	Content    string  // 1..memory.MaxContentRunes characters
	Importance float64 // 0..1
	Domain     memory.Domain
	Type       memory.Type
	ExpiresAt  time.Time // when it is over, such as a dated plan; zero: never

	// Category is what a model chose among the categories of the app's policy. It may be empty, or another name.
	Category string

	// IsNever: a model found that the app's policy never keeps the words, which are Content. They are no fact.
	IsNever bool

	// Invalid says why the proposal cannot be a fact; Content then is the proposal as the scorer wrote it,
	// of any length. Empty: it can.
	Invalid string

	// Voice says whose words the proposal holds if they are not the user's own, such as "a quote"; Content then is an
	// excerpt of them, and no fact of the user. Empty: the user's own.
	Voice voice.Kind
}

// Scorer proposes facts from a turn. Errors: KindUnavailable if the model is unavailable;
// *BadAnswer (KindBadAnswer) if its answer is refused.
type Scorer interface {
	// Score reads a turn. The messages before it, of the same conversation and oldest first, help to
	// understand it; no facts are taken from them.
	Score(ctx context.Context, turn memory.Turn, before []memory.Message) ([]Fact, error)
	// Name is recorded with each candidate: "rules", or the model's name.
	Name() string
}

// BadAnswer is a refused answer with the reason.
type BadAnswer struct {
	Answer string // as the model gave it
	Err    error  // of KindBadAnswer

	// Corrected: the model was given the reason why its first answer was refused, and this is its second answer. False:
	// the endpoint's answer has no text.
	Corrected bool
}

func (e *BadAnswer) Error() string { return e.Err.Error() }
func (e *BadAnswer) Unwrap() error { return e.Err }
