// Package scorer is the write gate's judge:
//
//	turn -> candidate facts, each with importance, domain and type
//
// An LLM scores where there is a chat key, rules where there is none. Zero
// facts is a good answer. What is done with the facts is decided elsewhere.
package scorer

import (
	"context"

	"hippocampus/internal/memory"
)

// MaxFacts is how many facts one turn may yield; an answer with more is refused.
const MaxFacts = 50

// Fact is one statement worth considering, in the language of the turn.
type Fact struct {
	Content    string  // 1..memory.MaxContentRunes characters
	Importance float64 // 0..1
	Domain     memory.Domain
	Type       memory.Type
}

// Scorer proposes facts from a turn. Errors: KindUnavailable when the model is
// away; *BadAnswer (KindBadAnswer) when it answered nonsense.
type Scorer interface {
	Score(ctx context.Context, turn memory.Turn) ([]Fact, error)
	// Name is recorded with each candidate: "rules", or the model's name.
	Name() string
}

// BadAnswer is an answer that was refused, with what was wrong with it.
type BadAnswer struct {
	Answer string // as the model gave it
	Err    error  // of KindBadAnswer
}

func (e *BadAnswer) Error() string { return e.Err.Error() }
func (e *BadAnswer) Unwrap() error { return e.Err }
