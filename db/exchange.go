package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Exchange reads memories whole, with all that is recorded about them.
type Exchange interface {
	// Export pages through an app's memories, in any status, in (UserID,
	// CreatedAt, ID) order by bytes. A page is as of one instant. A relation is
	// told by the later of its two ends in that order, so that whoever reads on
	// has met the other one already.
	Export(ctx context.Context, p ExportPage) ([]Record, error)
	// Recorded returns what is recorded under those of the ids that the owner
	// has a memory or events of, by id, without embeddings. Relations are in
	// both directions. Memory is zero where it has been purged.
	Recorded(ctx context.Context, owner memory.Owner, ids []string) (map[string]Record, error)
}

// ExchangeTx is what an import writes in a user's transaction, beside events
// and relations.
type ExchangeTx interface {
	// Recorded is Exchange.Recorded within the transaction.
	Recorded(ctx context.Context, ids []string) (map[string]Record, error)
	// Restore stores memories as they are, whatever their status and times.
	// Active ones become pending, due at an instant and claimed by nobody; as
	// the vector store may have known them, their first claim is not First. The
	// others are absent. KindConflict: an id exists already, whoever has it.
	Restore(ctx context.Context, memories []memory.Memory, due time.Time) error
	// RestoreEvents is AddEvents for what has happened elsewhere: it announces nothing.
	RestoreEvents(ctx context.Context, events []memory.Event) error
}

// ExportPage chooses a page of an export. Empty fields do not restrict.
type ExportPage struct {
	AppID      string // required
	UserID     string
	After      *ExportPlace // strictly after this
	Limit      int          // required, 1..memory.MaxPage
	Embeddings bool         // with embeddings
}

// ExportPlace is a place in an export.
type ExportPlace struct {
	UserID string
	Position
}

// Record is a memory with all that is recorded about it.
type Record struct {
	Memory    memory.Memory
	Events    []memory.Event    // oldest first, ties by id
	Relations []memory.Relation // oldest first, ties by from, kind and to
}
