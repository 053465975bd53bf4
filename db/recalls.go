package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Recalls keeps the log of recalls.
type Recalls interface {
	// LogRecalls stores entries. It leaves out those of owners who are being erased
	// or whose latest erasure ended at or after the recall.
	LogRecalls(ctx context.Context, entries []memory.LoggedRecall) error
	// ListRecalls pages through a user's entries, newest first.
	ListRecalls(ctx context.Context, f RecallFilter) ([]memory.LoggedRecall, error)
	// LoggedRecall returns a user's entry by its id; the zero value if there is no such entry.
	LoggedRecall(ctx context.Context, owner memory.Owner, id string) (memory.LoggedRecall, error)
	// PurgeRecalls deletes at most limit entries of any owner from before an instant, oldest first, and returns their
	// number.
	PurgeRecalls(ctx context.Context, before time.Time, limit int) (int, error)
}

// RecallFilter chooses entries of the log of recalls.
type RecallFilter struct {
	Owner  memory.Owner // required
	Before *Position    // strictly older than this, in (At, ID) order
	Limit  int          // required, 1..memory.MaxPage
}
