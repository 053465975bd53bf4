// Package judge decides what a new fact means for the memories near it:
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
const MaxNear = 16

// Decision is the outcome for a memory that is similar to a new fact.
type Decision string

// The decisions.
const (
	KeepBoth Decision = "keep_both" // each holds a statement of its own
	Replace  Decision = "replace"   // the one that was said later replaces the other
	Merge    Decision = "merge"     // both say the same and become one memory
)

// Verdict is the decision about one memory.
type Verdict struct {
	Decision Decision
	Relation memory.RelationKind // of the new fact to a replaced memory: Contradicts or Refines; else empty

	// Merged is a wording that holds both, or, with Replace, the new state and what stays true
	// of the memory. Empty: the wording of the new fact. At most one verdict has it.
	Merged string

	// Why is, with KeepBoth, the model's reason, or what was wrong with its decision.
	Why string
}

// Judge compares a draft with 1 to MaxNear memories of the same user.
type Judge interface {
	// Judge returns one verdict for each of near, in its order; at most one is
	// Merge. A memory about which the answer has no usable decision gets KeepBoth.
	// KindUnavailable: the model could not be asked. KindBadAnswer: the answer
	// has no usable decision at all.
	Judge(ctx context.Context, draft memory.Memory, near []memory.Memory) ([]Verdict, error)
}
