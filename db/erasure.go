package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Erasures removes everything of an owner for good:
//
//	begin: mark, job -> some, some, ... -> end: nothing is left, the mark goes
//
// From the mark on, AcceptTurn, ReplayTurn and InUser answer ErrErasing for the
// owner; writers that were in before have ended. The mark is a tombstone under a
// hash of the owner, and outlives the erasure: it tells work that began before
// that its owner is not who it was (UserState.Erased).
//
// A job is known to be about an owner by its payload: app_id and user_id, or
// the turn_id of a turn of the owner.
type Erasures interface {
	// BeginErasure marks the owner and enqueues job, to be worked from due on.
	// Where the owner is marked already, that erasure is gone on with.
	BeginErasure(ctx context.Context, owner memory.Owner, at, due time.Time, job Job) (Erasure, error)
	// Erasure returns the owner's latest erasure. KindNotFound: there is none.
	Erasure(ctx context.Context, owner memory.Owner) (Erasure, error)
	// EraseSome deletes some rows of each kind, and counts them in the erasure.
	// Memories that somebody is pushing to the vector store are left until
	// their claims end, so that no push comes after. KindConflict: the erasure
	// has ended.
	EraseSome(ctx context.Context, e Erasure, step EraseStep) (ErasedSome, error)
	// EndErasure makes sure that nothing is left, deletes every job that is
	// about the owner, the erasing one too, and takes the mark away. vectors
	// are counted as in EraseStep. KindConflict: the erasure has ended, or
	// something is left.
	EndErasure(ctx context.Context, e Erasure, at time.Time, vectors int) (Erasure, error)
}

// Erasure is one removal of an owner.
type Erasure struct {
	Owner       memory.Owner
	Round       int // how many erasures of the owner there have been, this one included
	RequestedAt time.Time
	DoneAt      time.Time // zero: it is under way
	Deleted     Erased
}

// Erased counts what an erasure has deleted.
type Erased struct {
	Memories       int `json:"memories"`
	Turns          int `json:"turns"`
	Conversations  int `json:"conversations"`
	Consolidations int `json:"consolidations"`
	Candidates     int `json:"candidates"`
	Events         int `json:"events"`
	Relations      int `json:"relations"`
	Facts          int `json:"facts"`
	Instructions   int `json:"instructions"` // versions
	Skills         int `json:"skills"`       // workflows
	Outcomes       int `json:"outcomes"`     // of workflows, that had an id
	Announcements  int `json:"announcements"`
	Jobs           int `json:"jobs"`    // without the erasing one
	Vectors        int `json:"vectors"` // records in the vector store
}

// Plus is the sum of both.
func (e Erased) Plus(more Erased) Erased {
	return Erased{
		e.Memories + more.Memories, e.Turns + more.Turns, e.Conversations + more.Conversations, e.Consolidations + more.Consolidations, e.Candidates + more.Candidates, e.Events + more.Events,
		e.Relations + more.Relations, e.Facts + more.Facts, e.Instructions + more.Instructions,
		e.Skills + more.Skills, e.Outcomes + more.Outcomes, e.Announcements + more.Announcements, e.Jobs + more.Jobs, e.Vectors + more.Vectors,
	}
}

// EraseStep bounds one step of an erasure.
type EraseStep struct {
	Now     time.Time // by which claims have ended or not
	Limit   int       // rows of each kind
	Keep    string    // kind of the jobs that EndErasure alone deletes
	Vectors int       // records that were deleted from the vector store since the last step
}

// ErasedSome is what one step did. Nothing deleted and nothing left: no more
// steps are needed.
type ErasedSome struct {
	Deleted  Erased
	Memories []string // ids of the deleted ones
	Left     int      // memories that are being pushed; counted where fewer than the limit were deleted
}

// ErrErasing is the KindConflict of a write for an owner who is being erased.
var ErrErasing = memory.Errorf(memory.KindConflict, "this user is being erased: try again in a moment")

// ErrErased is the KindConflict of a step of an erasure that has ended.
var ErrErased = memory.Errorf(memory.KindConflict, "this erasure has ended")

// ErrLeft is the KindConflict of ending an erasure too early.
var ErrLeft = memory.Errorf(memory.KindConflict, "the erasure cannot end: rows of the user are left")
