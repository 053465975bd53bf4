package projection

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Together pushes for those whose database writes vectors in the transaction of
// their memories: there is nothing left to push. What such a transaction leaves
// to the outbox is claimed by nobody, and due: the reconciler pushes it.
type Together struct{}

// Claimed is zero: nobody claims.
func (Together) Claimed() time.Time { return time.Time{} }

// PushNew does nothing.
func (Together) PushNew(context.Context, []memory.Memory) {}

// Push does nothing.
func (Together) Push(context.Context, []string) {}
