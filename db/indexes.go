package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Indexes keeps what recall computes of an owner's documents, so that it need not read them
// again. Its content is recall's; erasure deletes it with the documents.
type Indexes interface {
	// Index returns what SaveIndex stored of the owner last; 0 and nil if there is nothing.
	Index(ctx context.Context, owner memory.Owner) (revision int64, data []byte, err error)
	// SaveIndex stores what was computed of the owner's documents at a revision. It stores
	// nothing if data of a later revision is stored, or if Changes after the revision
	// would read all documents. ErrErasing: see Erasures.
	SaveIndex(ctx context.Context, owner memory.Owner, revision int64, data []byte) error
}
