package projection

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Pusher brings committed changes of memories to the vector store; Projection
// implements it.
type Pusher interface {
	// ClaimedUntil is the end of the claim with which the caller must insert new
	// memories before it calls PushNew.
	ClaimedUntil() time.Time
	// PushNew pushes memories that were inserted with a claim.
	PushNew(ctx context.Context, memories []memory.Memory)
	// Push pushes the memories with these ids as they are stored.
	Push(ctx context.Context, ids []string)
}
