package jobs

import (
	"context"
	"time"

	"hippocampus/db"
)

// Ask enqueues upkeep of a kind beside its schedule. Asking twice for the same
// instant is asking once.
func Ask(ctx context.Context, queue Enqueuer, kind string, at time.Time) (db.JobInfo, error) {
	info, _, err := queue.Enqueue(ctx, tick{kind: kind, At: at})
	return info, err
}
