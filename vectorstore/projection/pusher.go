package projection

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Pusher brings committed changes of memories to the vector store; Projection
// implements it.
type Pusher interface {
	// Claimed is the instant until which the caller has claimed memories that it
	// inserts now and pushes with PushNew.
	Claimed() time.Time
	// PushNew pushes memories that were inserted with a claim.
	PushNew(ctx context.Context, memories []memory.Memory)
	// Push pushes the memories with these ids as they are stored.
	Push(ctx context.Context, ids []string)
}
