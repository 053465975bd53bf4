package history

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Draft is a memory that is not stored yet.
type Draft struct {
	memory.Memory
	Detail any // of the event of its creation; may be nil
}

// Settle stores drafts in their owner's transaction, after it was found out what they mean for the active memories near
// them. For each draft it returns the memory that holds it: the draft, perhaps reworded and already superseded, or a
// memory that was active before. The caller must flush changes, and after the commit push the memories that they
// changed and the active drafts.
type Settle = func(ctx context.Context, tx db.UserTx, changes *Recorder, drafts []Draft) (
	held []memory.Memory, err error)
