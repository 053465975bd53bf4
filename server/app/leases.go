package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
)

// voidLeases voids, at the start and from then on, the leases that a clock has left
// which was ahead.
type voidLeases struct {
	records db.Leases
	now     func() time.Time
	log     *zap.Logger
}

// leaseCheck is the time between two checks.
const leaseCheck = 5 * time.Minute

func (v voidLeases) run(ctx context.Context) {
	ticker := time.NewTicker(leaseCheck)
	defer ticker.Stop()
	for {
		switch n, err := v.records.VoidLeases(ctx, v.now()); {
		case err != nil && ctx.Err() == nil:
			v.log.Warn("leases that end in the future could not be voided", zap.Error(err))
		case n > 0:
			v.log.Warn("leases that no setting allows were void: a clock was ahead, or is behind", zap.Int("rows", n))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
