// Package scorer proposes facts from turns:
//
//	turn -> candidate facts, each with importance, domain and type
//
// A language model scores if a chat key is configured, else rules do. An answer without facts
// is valid. Package ingest decides what becomes of the facts.
package scorer

import (
	"context"

	"hippocampus/internal/memory"
)

// MaxFacts bounds the facts of one turn; an answer with more is refused.
const MaxFacts = 50

// Fact is one proposed statement, in the language of the turn.
type Fact struct {
	Content    string  // 1..memory.MaxContentRunes characters
	Importance float64 // 0..1
	Domain     memory.Domain
	Type       memory.Type
}

// Scorer proposes facts from a turn. Errors: KindUnavailable if the model is unavailable;
// *BadAnswer (KindBadAnswer) if its answer is refused.
type Scorer interface {
	Score(ctx context.Context, turn memory.Turn) ([]Fact, error)
	// Name is recorded with each candidate: "rules", or the model's name.
	Name() string
}

// BadAnswer is a refused answer with the reason.
type BadAnswer struct {
	Answer string // as the model gave it
	Err    error  // of KindBadAnswer
}

func (e *BadAnswer) Error() string { return e.Err.Error() }
func (e *BadAnswer) Unwrap() error { return e.Err }
