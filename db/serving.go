package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Serving keeps which embedding space queries and memories meet in, and the
// embeddings of the space that is to take its place:
//
//	memories without an embedding of the target -> Reembed, beside the one in use
//	-> ChangeOver -> SettleEmbeddings -> DropPrevious
//
// Until ChangeOver nothing that serves is touched. A memory's embedding beside
// the one in use goes when its content changes.
type Serving interface {
	// ServingState returns the state; zero before the first SetTarget.
	ServingState(ctx context.Context) (ServingState, error)
	// SetTarget makes a space the target, whatever was; where nothing serves yet it
	// serves at once.
	SetTarget(ctx context.Context, target memory.Space, at time.Time) (ServingState, error)
	// HoldReembedding makes holder the only one who re-embeds until then, where
	// nobody else is past now; now as until gives it back.
	HoldReembedding(ctx context.Context, holder string, now, until time.Time) (held bool, err error)
	// ChangeOver makes the target serve. copied: from when on changes may be
	// missing from its collection. KindConflict: to is not the target, or the
	// space before the last one is not dropped yet.
	ChangeOver(ctx context.Context, to memory.Space, copied, at time.Time) error
	// DropPrevious notes that nothing is left of the space that served before.
	DropPrevious(ctx context.Context) error

	// Unembedded lists active memories of any owner without an embedding of the
	// space, whose id is greater than after ("" for the first), in id order,
	// without embeddings.
	Unembedded(ctx context.Context, space memory.Space, after string, limit int) ([]memory.Memory, error)
	// CountUnembedded counts them.
	CountUnembedded(ctx context.Context, space memory.Space) (int, error)
	// Reembed stores embeddings beside those in use. Memories that are gone or
	// of another revision are left out.
	Reembed(ctx context.Context, space memory.Space, embeddings []Reembedding) error
	// SettleEmbeddings puts up to limit embeddings of the space, stored beside,
	// in the place of those that were in use, and returns how many.
	SettleEmbeddings(ctx context.Context, space memory.Space, limit int) (int, error)
}

// ServingState says which space serves, and which is to.
type ServingState struct {
	Serving   memory.Space
	Target    memory.Space // Serving: nothing is to change
	Previous  memory.Space // served before, and its vectors are still there; zero: none
	CopiedAt  time.Time    // of the latest ChangeOver
	ChangedAt time.Time    // when Serving began to
	HeldUntil time.Time    // zero: nobody re-embeds
}

// Settled reports whether one space serves and nothing else is meant or left.
func (s ServingState) Settled() bool { return s.Serving == s.Target && s.Previous == memory.Space{} }

// Reembedding is a new embedding of a memory as it was at a revision.
type Reembedding struct {
	ID        string
	Revision  int64
	Embedding []float32
}
