// Package judge decides what a new fact means for the memories that are near
// it:
//
//	draft + near memories, each with its date -> one model call -> a verdict for each
//
// It only proposes: ingest applies a verdict under the user's lock,
// and only to a memory that still is as it was judged. Whoever gets an error
// keeps both.
package judge

import (
	"context"

	"hippocampus/internal/memory"
)

// MaxNear is how many memories one judgement is about at most.
const MaxNear = 5

// Decision is what becomes of a memory that a new fact is near.
type Decision string

// The decisions.
const (
	KeepBoth Decision = "keep_both" // each says something of its own
	Replace  Decision = "replace"   // the memory is no longer so
	Merge    Decision = "merge"     // both say the same: one memory holds them
)

// Verdict is the decision about one memory.
type Verdict struct {
	Decision Decision
	Relation memory.RelationKind // of the new fact to a replaced memory: Contradicts or Refines; else empty
	Merged   string              // with Merge: one wording of both; empty: the newer wording serves
}

// Judge compares a draft with 1 to MaxNear memories of the same user.
type Judge interface {
	// Judge returns one verdict for each of near, in its order; at most one is
	// Merge. KindUnavailable: nobody could be asked. KindBadAnswer: the answer
	// was refused, whole.
	Judge(ctx context.Context, draft memory.Memory, near []memory.Memory) ([]Verdict, error)
}
