package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// ErrReprocessing is the conflict that a run was changed since it was read.
var ErrReprocessing = memory.Errorf(memory.KindConflict, "the reprocessing was changed at the same time: read it again")

// Reprocessings keeps runs that score turns again.
type Reprocessings interface {
	// BeginReprocessing stores a run with its job. KindConflict: another run is active for one of its users.
	BeginReprocessing(ctx context.Context, r memory.Reprocessing, job Job) error
	// Reprocessing finds a run of the app.
	Reprocessing(ctx context.Context, appID, id string) (memory.Reprocessing, error)
	// ListReprocessings pages through runs, newest first.
	ListReprocessings(ctx context.Context, f ReprocessingFilter) ([]memory.Reprocessing, error)
	// AdvanceReprocessing stores the State, Counts, Place, Note and EndedAt of to, if the run still has the State and
	// Place of from; else ErrReprocessing.
	AdvanceReprocessing(ctx context.Context, from, to memory.Reprocessing) error
	// UndoReprocessing makes a run that is not undone undoing, and stores a job. KindConflict: a later run of one of its
	// users is not undone.
	UndoReprocessing(ctx context.Context, appID, id string, job Job) (memory.Reprocessing, error)
	// UserWithTurns returns the first user of an app after one, by id, who has turns; "" if there is no such user.
	UserWithTurns(ctx context.Context, appID, after string) (string, error)
	// SelectTurns lists processed turns of an owner that a selection chooses and that memory is on for, in the order in
	// which they were said, strictly after a place. A turn that was processed before its scorer was noted counts as
	// scored by those of its candidates; without candidates, as scored by rules.
	SelectTurns(ctx context.Context, owner memory.Owner, sel memory.TurnSelection, after Position, limit int) (
		[]Position, error)
	// ReprocessedTurns lists turns of a run, latest said first.
	ReprocessedTurns(ctx context.Context, runID string, limit int) ([]memory.ReprocessedTurn, error)
	// PurgeReprocessings deletes runs that ended before an instant; they can be undone no longer.
	PurgeReprocessings(ctx context.Context, before time.Time) error
}

// ReprocessingTx is the part of UserTx that scores turns again.
type ReprocessingTx interface {
	// AdvanceReprocessing is Reprocessings.AdvanceReprocessing within the transaction.
	AdvanceReprocessing(ctx context.Context, from, to memory.Reprocessing) error
	// NoteReprocessed stores what an undo needs of a turn, in place of what is stored already.
	NoteReprocessed(ctx context.Context, t memory.ReprocessedTurn) error
	// Reprocessed reads what is stored of a turn, by RunID, Owner, At and TurnID.
	Reprocessed(ctx context.Context, t memory.ReprocessedTurn) (memory.ReprocessedTurn, bool, error)
	// RemoveReprocessed removes what is stored of a turn.
	RemoveReprocessed(ctx context.Context, t memory.ReprocessedTurn) error
	// DropCandidates removes candidates of a turn.
	DropCandidates(ctx context.Context, turnID string, ids []string) error
	// NoteScoring notes what has proposed the facts of a turn. A turn that is gone is left alone.
	NoteScoring(ctx context.Context, turnID string, scored memory.Scoring) error
}

// ReprocessingFilter chooses runs. Empty fields do not restrict.
type ReprocessingFilter struct {
	memory.Owner           // the app is required
	Before       *Position // strictly older than this, in (CreatedAt, ID) order
	Limit        int       // required, 1..memory.MaxPage
}
