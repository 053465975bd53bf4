package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Pool reads whose the memories in the shared pools of apps are. An entry is open if its memory is active, and the
// contributor has not forgotten the memory that was copied; what has faded counts as not forgotten.
type Pool interface {
	// ListPooled pages through the open entries of an app, newest first.
	ListPooled(ctx context.Context, f PoolFilter) ([]PooledMemory, error)
	// OpenPooled returns those of the entries with these ids that are open, by id.
	OpenPooled(ctx context.Context, appID string, ids []string) (map[string]memory.Pooled, error)
	// CopiesOf returns the entries, open or not, whose memories are copies of these memories of a user.
	CopiesOf(ctx context.Context, owner memory.Owner, memories []string) ([]memory.Pooled, error)
	// ExportPooled lists the entries of an app, open or not, by id, strictly after one.
	ExportPooled(ctx context.Context, of Extent, after *memory.Pooled) ([]memory.Pooled, error)
}

// PoolFilter chooses open entries. Empty fields do not restrict.
type PoolFilter struct {
	AppID  string    // required
	UserID string    // of the contributor
	Memory string    // id of the contributor's memory
	Before *Position // strictly older than this, in (PromotedAt, ID) order
	Limit  int       // required, 1..memory.MaxPage
}

// PooledMemory is an entry with its memory, without an embedding.
type PooledMemory struct {
	memory.Pooled
	Memory memory.Memory
}

// PoolTx changes entries in a transaction of the owner memory.PoolOf. Withdrawn memories of the pool are forgotten; the
// deletion of a memory of the pool deletes its entry.
type PoolTx interface {
	// AddPooled stores an entry, whose memory the transaction inserts if fresh is true. If there is an entry with an
	// active memory for the same memory of the contributor, it is returned instead. KindConflict: the contributor's memory
	// is not active any more; ErrErased; or ErrErasing.
	AddPooled(ctx context.Context, p memory.Pooled) (held memory.Pooled, fresh bool, err error)
	// RestorePooled stores an exported entry, or returns the one that is stored. ErrErased: the contributor was erased
	// since an instant; ErrErasing: see AddPooled.
	RestorePooled(ctx context.Context, p memory.Pooled, since time.Time) (held memory.Pooled, fresh bool, err error)
	// OrphanPooled removes from entries who contributed them, from what and with which key.
	OrphanPooled(ctx context.Context, ids []string) error
}
