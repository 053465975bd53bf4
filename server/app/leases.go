package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
)

// voidLeases voids leases that were set while a clock was ahead. It does so at the start
// and at intervals.
type voidLeases struct {
	records db.Leases
	longest db.Longest
	now     func() time.Time
	log     *zap.Logger
}

// longestLeases is how long the leases of a server with these settings last.
func longestLeases(lease time.Duration) db.Longest {
	return db.Longest{
		Turn:          max(lease, turnRetryLimit),
		Push:          max(pushLease(lease), pushRetryLimit),
		Consolidation: lease,
		Reembedding:   reembeddingLease,
	}
}

// leaseCheck is the time between two checks.
const leaseCheck = 30 * time.Second

func (v voidLeases) run(ctx context.Context) {
	ticker := time.NewTicker(leaseCheck)
	defer ticker.Stop()
	for {
		switch n, err := v.records.VoidLeases(ctx, v.now(), v.longest); {
		case err != nil && ctx.Err() == nil:
			v.log.Warn("leases that end in the future could not be voided", zap.Error(err))
		case n > 0:
			v.log.Warn("leases that were longer than the settings allow were void: a clock was ahead, or is behind",
				zap.Int("rows", n))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
