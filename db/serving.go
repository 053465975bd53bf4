package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Serving keeps which embedding space is in use, and the embeddings of the target
// space that will replace it:
//
//	memories without an embedding of the target -> Reembed, into a table of their own
//	-> ChangeOver -> SettleEmbeddings -> DropPrevious
//
// Nothing in use changes before ChangeOver. A change of a memory's content deletes
// its embedding of the target.
type Serving interface {
	// ServingState returns the state; zero before the first SetTarget.
	ServingState(ctx context.Context) (ServingState, error)
	// SetTarget replaces the target. If no space serves yet, the target serves at
	// once.
	SetTarget(ctx context.Context, target memory.Space, at time.Time) (ServingState, error)
	// HoldReembedding gives holder the lease for re-embedding until an instant, if no
	// other holder has it at now. If until is now, the lease is returned.
	HoldReembedding(ctx context.Context, holder string, now, until time.Time) (held bool, err error)
	// ChangeOver makes the target serve. Changes from copied on may be missing from
	// its collection. KindConflict: to is not the target, or the space before the
	// last one is not dropped yet.
	ChangeOver(ctx context.Context, to memory.Space, copied, at time.Time) error
	// DropPrevious records that the vectors of the previous space are deleted.
	DropPrevious(ctx context.Context) error

	// Unembedded lists active memories of any owner without an embedding of the
	// space, whose id is greater than after ("" for the first), in id order,
	// without embeddings.
	Unembedded(ctx context.Context, space memory.Space, after string, limit int) ([]memory.Memory, error)
	// CountUnembedded counts the memories that Unembedded lists.
	CountUnembedded(ctx context.Context, space memory.Space) (int, error)
	// HasWordsOnly reports whether an active memory of any owner has no embedding at all: see Memory.WordsOnly.
	HasWordsOnly(ctx context.Context) (bool, error)
	// Reembed stores embeddings of the target in addition to those in use. It leaves
	// out memories that were deleted or have another revision.
	Reembed(ctx context.Context, space memory.Space, embeddings []Reembedding) error
	// SettleEmbeddings replaces up to limit embeddings in use by the embeddings of the space that Reembed stored, and
	// returns their number.
	SettleEmbeddings(ctx context.Context, space memory.Space, limit int) (int, error)
}

// Calibrations keeps what similarities mean in each embedding space, so that every
// replica uses the same calibration.
type Calibrations interface {
	// Calibration returns the calibration of a space; zero if it has no calibration.
	Calibration(ctx context.Context, space memory.Space) (memory.Calibration, error)
	// KeepCalibration stores a calibration unless the space has one, and returns the
	// one that the space has.
	KeepCalibration(ctx context.Context, space memory.Space, c memory.Calibration) (memory.Calibration, error)
}

// RefusedFields keeps which fields of a chat request models refuse, so that every replica leaves them out, also after
// a restart.
type RefusedFields interface {
	// RefusedFields lists what the models of an endpoint refuse, by model and field.
	RefusedFields(ctx context.Context, endpoint string) ([]memory.RefusedField, error)
	// KeepRefusedField stores a field unless it is stored.
	KeepRefusedField(ctx context.Context, f memory.RefusedField) error
}

// ServingState is which space serves, and which will.
type ServingState struct {
	Serving   memory.Space
	Target    memory.Space // equal to Serving unless a change is running
	Previous  memory.Space // served before and still has vectors; zero: no such space
	CopiedAt  time.Time    // of the latest ChangeOver
	ChangedAt time.Time    // when Serving began to serve
	HeldUntil time.Time    // of the lease for re-embedding; zero: no lease
}

// Settled reports whether one space serves, and no other is the target or has vectors.
func (s ServingState) Settled() bool { return s.Serving == s.Target && s.Previous == memory.Space{} }

// Reembedding is a new embedding of a memory as it was at a revision.
type Reembedding struct {
	ID        string
	Revision  int64
	Embedding []float32
}
