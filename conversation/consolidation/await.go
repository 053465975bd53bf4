package consolidation

import (
	"context"
	"slices"
	"time"

	"hippocampus/internal/memory"
)

// Looks at awaited consolidations are further and further apart.
const (
	firstLook = 10 * time.Millisecond
	lastLook  = 250 * time.Millisecond
)

// Pending reports whether some consolidation is still to be tried.
func (e Ended) Pending() bool {
	return slices.ContainsFunc(e.Consolidations, func(one memory.Consolidation) bool { return one.State == memory.ConsolidationPending })
}

// Await returns the end of a conversation once none of its consolidations waits,
// or as it stands when the context ends.
func (s *Service) Await(ctx context.Context, ended Ended) (Ended, error) {
	for wait := firstLook; ended.Pending(); wait = min(wait*5/4, lastLook) {
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
