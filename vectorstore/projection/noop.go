package projection

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// NoopPusher is the pusher of a database that writes vectors in the transaction
// of their memories, so that nothing is left to push. If such a transaction leaves
// a memory to the outbox, the memory is due and the reconciler pushes it.
type NoopPusher struct{}

// ClaimedUntil is zero: the memories need no claim.
func (NoopPusher) ClaimedUntil() time.Time { return time.Time{} }

// PushNew does nothing.
func (NoopPusher) PushNew(context.Context, []memory.Memory) {}

// Push does nothing.
func (NoopPusher) Push(context.Context, []string) {}
