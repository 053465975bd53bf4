package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/memory"
)

// Lag returns how long the turn that has waited longest for a worker has been due, as Work measured it last; 0: no turn
// is due. A turn that waits for a model or a store is not due.
func (s *Service) Lag() time.Duration { return time.Duration(s.lag.Load()) }

// measureLag measures Lag. If the database does not answer, the last measurement stays.
func (s *Service) measureLag(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	due, err := s.Records.LongestDue(ctx)
	switch {
	case err != nil && !errors.Is(ctx.Err(), context.Canceled):
		s.Log.Warn("the longest due turn could not be found", zap.Error(err))
	case err == nil && due.IsZero():
		s.lag.Store(0)
	case err == nil:
		s.lag.Store(int64(max(0, s.Now().Sub(due))))
	}
}

// lagRetry is how long a client is asked to wait if turns lag behind.
const lagRetry = 30 * time.Second

// refuseLate returns an error of KindTooFast if the turns lag behind by more than MaxLag.
func (s *Service) refuseLate() error {
	lag := s.Lag()
	if s.set.MaxLag == 0 || lag <= s.set.MaxLag {
		return nil
	}
	return &memory.Error{
		Kind: memory.KindTooFast, RetryAfter: lagRetry, Limit: "jobs.max_lag",
		Err: fmt.Errorf("turns arrive faster than they are processed: one has waited for a worker for %s, and the limit "+
			"is %s (jobs.max_lag); send the turn again after the seconds in Retry-After", lag.Round(time.Second), s.set.MaxLag),
	}
}
