package consolidation

import (
	"context"
	"slices"
	"time"

	"hippocampus/internal/memory"
)

// Awaited consolidations are read at growing intervals.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// Pending reports whether a consolidation has not been tried yet.
func (e Ended) Pending() bool {
	return slices.ContainsFunc(e.Consolidations, func(one memory.Consolidation) bool {
		return one.State == memory.ConsolidationPending
	})
}

// Await returns the end of a conversation once no consolidation of it is pending,
// or as it is when the context ends.
func (s *Service) Await(ctx context.Context, ended Ended) (Ended, error) {
	for wait := firstPause; ended.Pending(); wait = min(wait*5/4, lastPause) {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ended, nil
		}
		c := ended.Conversation
		list, err := s.ofEnd(ctx, c)
		if err != nil && ctx.Err() != nil {
			return ended, nil
		}
		if err != nil {
			return ended, err
		}
		if ended.Consolidations = list; ended.Pending() {
			continue
		}
		if now, err := s.Records.Conversation(ctx, c.AppID, c.UserID, c.ID); err == nil {
			ended.Conversation = now
		}
	}
	return ended, nil
}
