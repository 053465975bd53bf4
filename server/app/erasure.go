package app

import (
	"time"

	"go.uber.org/zap"

	"hippocampus/db/jobs"
	"hippocampus/forgetting/erasure"
	"hippocampus/internal/memory"
)

// openErasure makes the service that removes users for good, and its job. The
// holders keep users' words in memory, not by user: they let go of everything.
func openErasure(records erasure.Records, vectors erasure.Vectors, timeout time.Duration, now func() time.Time, log *zap.Logger, holders ...interface{ Purge() }) (*erasure.Service, jobs.Handler) {
	drop := func(memory.Owner) {
		for _, h := range holders {
			h.Purge()
		}
	}
	erase := erasure.New(records, vectors, drop, now, log.Named("erasure"))
	return erase, jobs.HandleResult(timeout, erase.Work)
}
