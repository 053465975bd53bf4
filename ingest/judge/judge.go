// Package judge decides what a new fact means for similar memories:
//
//	draft + near memories, each with its date -> one model call -> a verdict for each
//
// ingest applies a verdict under the owner lock, and only to a memory that has not changed
// since it was judged. On an error it keeps both.
package judge

import (
	"context"

	"hippocampus/internal/memory"
)

// MaxNear bounds the memories of one judgement.
const MaxNear = 5

// Decision is the outcome for a memory that is similar to a new fact.
type Decision string

// The decisions.
const (
	KeepBoth Decision = "keep_both" // each holds a statement of its own
	Replace  Decision = "replace"   // the memory no longer holds
	Merge    Decision = "merge"     // both say the same and become one memory
)

// Verdict is the decision about one memory.
type Verdict struct {
	Decision Decision
	Relation memory.RelationKind // of the new fact to a replaced memory: Contradicts or Refines; else empty
	Merged   string              // with Merge: one wording for both; empty: the newer wording
}

// Judge compares a draft with 1 to MaxNear memories of the same user.
type Judge interface {
	// Judge returns one verdict for each of near, in its order; at most one is
	// Merge. KindUnavailable: the model could not be asked. KindBadAnswer: the answer
	// was refused as a whole.
	Judge(ctx context.Context, draft memory.Memory, near []memory.Memory) ([]Verdict, error)
}
