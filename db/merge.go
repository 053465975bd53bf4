package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Merges moves everything of one user to another user of the same app:
//
//	begin: mark, job -> some, some, ... -> EndErasure: no row is left, the mark is removed
//
// A merge is an erasure whose rows move. From the mark on, writes for the user whose rows move are refused, and work
// that began earlier finds that its owner was erased. Writes for the other user go on, between two steps.
type Merges interface {
	// BeginMerge marks m.From and enqueues job, which is due at an instant. If the same merge runs already, it returns
	// that one; if it has ended and From has nothing new, it returns the receipt, whose DoneAt is set. ErrErasing: one of
	// the two is being erased or takes part in another merge. KindConflict: m.Into shall be new and has rows.
	BeginMerge(ctx context.Context, m Merge, at, due time.Time, job Job) (Erasure, error)
	// MoveSome moves some rows of each kind, and counts them in the erasure. Claimed memories are left until their claims
	// end, so that no push under the former user follows. Moved memories are due to be pushed at step.Now. KindConflict:
	// the merge has ended, or it is with another user than into.
	MoveSome(ctx context.Context, e Erasure, into memory.Owner, step EraseStep) (ErasedSome, error)
}

// Merge names two users of one app.
type Merge struct {
	From, Into memory.Owner
	New        bool // Into must not exist yet
}
