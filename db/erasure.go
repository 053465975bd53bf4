package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Erasures removes everything of an owner for good:
//
//	begin: mark, job -> some, some, ... -> end: no row is left, the mark is removed
//
// From the mark on, AcceptTurn, ReplayTurn and InUser answer ErrErasing for the
// owner, and earlier writers have ended. The erasure leaves a tombstone under a hash of the owner, so that work which
// began earlier finds that its owner was erased (UserState.Erased).
//
// A job is about an owner if its payload has the owner's app_id and user_id, or
// the turn_id of a turn of the owner.
type Erasures interface {
	// BeginErasure marks the owner and enqueues job, which is due at an instant. If
	// the owner is marked already, it returns that erasure. ErrErasing: the owner is being merged with another one.
	BeginErasure(ctx context.Context, owner memory.Owner, at, due time.Time, job Job) (Erasure, error)
	// Erasure returns the owner's latest erasure. KindNotFound: it does not exist.
	Erasure(ctx context.Context, owner memory.Owner) (Erasure, error)
	// EraseSome deletes some rows of each kind, and counts them in the erasure.
	// Claimed memories are left until their claims end, so that no push follows
	// the deletion. KindConflict: the erasure has ended.
	EraseSome(ctx context.Context, e Erasure, step EraseStep) (ErasedSome, error)
	// ErasedCopies returns the ids of the copies in the pool that EraseSome has deleted. They are kept until EndErasure,
	// so that an erasure that is continued deletes the vectors of all of them.
	ErasedCopies(ctx context.Context, owner memory.Owner) ([]string, error)
	// EndErasure checks that no row is left, deletes every job about the owner,
	// including the erasing one, and removes the mark. vectors is counted as in
	// EraseStep. KindConflict: the erasure has ended, or rows are left.
	EndErasure(ctx context.Context, e Erasure, at time.Time, vectors int) (Erasure, error)
}

// Copies lets erasures wait for copies of rows to other stores: an erasure deletes rows, waits, and then deletes the
// copied records, so that no copy writes data of deleted rows after that.
type Copies interface {
	// Copy calls f, which reads rows and writes them elsewhere, and returns its error.
	Copy(ctx context.Context, f func(ctx context.Context) error) error
	// AwaitCopies waits until every Copy that began before has ended. KindUnavailable: that takes too long.
	AwaitCopies(ctx context.Context) error
}

// Erasure is one removal of an owner.
type Erasure struct {
	Owner       memory.Owner
	Round       int // how many erasures of the owner there have been, this one included
	RequestedAt time.Time
	DoneAt      time.Time // zero: it is running
	Deleted     Erased    // or moved
	Into        string    // a hash of the user to whom the rows move; "": they are deleted
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
	Outcomes       int `json:"outcomes"`     // of workflows; only outcomes with an id
	Files          int `json:"files"`
	FileVersions   int `json:"file_versions"` // present and former contents
	Documents      int `json:"documents"`
	Announcements  int `json:"announcements"`
	Recalls        int `json:"recalls"` // entries of the log
	Jobs           int `json:"jobs"`    // without the erasing one
	Vectors        int `json:"vectors"` // records in the vector store
}

// Plus returns the sum of both.
func (e Erased) Plus(more Erased) Erased {
	return Erased{
		Memories:       e.Memories + more.Memories,
		Turns:          e.Turns + more.Turns,
		Conversations:  e.Conversations + more.Conversations,
		Consolidations: e.Consolidations + more.Consolidations,
		Candidates:     e.Candidates + more.Candidates,
		Events:         e.Events + more.Events,
		Relations:      e.Relations + more.Relations,
		Facts:          e.Facts + more.Facts,
		Instructions:   e.Instructions + more.Instructions,
		Skills:         e.Skills + more.Skills,
		Outcomes:       e.Outcomes + more.Outcomes,
		Files:          e.Files + more.Files,
		FileVersions:   e.FileVersions + more.FileVersions,
		Documents:      e.Documents + more.Documents,
		Announcements:  e.Announcements + more.Announcements,
		Recalls:        e.Recalls + more.Recalls,
		Jobs:           e.Jobs + more.Jobs,
		Vectors:        e.Vectors + more.Vectors,
	}
}

// EraseStep bounds one step of an erasure.
type EraseStep struct {
	Now     time.Time // the instant at which claims are compared
	Limit   int       // rows of each kind
	Keep    string    // kind of the jobs that EndErasure alone deletes
	Vectors int       // records that were deleted from the vector store since the last step
	Orphan  bool      // what the user has contributed to the pool stays, without a sign of who contributed it
}

// ErasedSome is the result of one step. If nothing was deleted and nothing is left,
// no further step is needed.
type ErasedSome struct {
	Deleted  Erased
	Memories []string // ids of the deleted ones, without copies in the pool
	Left     int      // claimed memories; counted if fewer than the limit were deleted
}

// ErrErasing is the KindConflict of a write for an owner who is being erased or moved to another one.
var ErrErasing = memory.Errorf(memory.KindConflict, "this user is being erased or merged: try again in a moment")

// ErrErased is the KindConflict of a step of an erasure that has ended.
var ErrErased = memory.Errorf(memory.KindConflict, "this erasure has ended")

// ErrLeft is the KindConflict of ending an erasure too early.
var ErrLeft = memory.Errorf(memory.KindConflict, "the erasure cannot end: rows of the user are left")
