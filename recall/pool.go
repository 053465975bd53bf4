package recall

import (
	"context"

	"hippocampus/internal/memory"
)

// recallWithPool recalls the owner's memories and those of the app's shared pool. While nothing is recalled of the
// owner, since memory is off or the query is small talk, the pool is not searched. The accesses of the owner's memories
// alone are counted.
func (s *Service) recallWithPool(ctx context.Context, q Query) (Answer, error) {
	own := q
	own.Pool, own.NoTouch = false, true
	answer, err := s.Recall(ctx, own)
	if err != nil || answer.Skipped {
		return answer, err
	}
	shared := own
	shared.Owner, shared.Limit = memory.PoolOf(q.Owner.AppID), min(2*q.Limit, memory.MaxLimit)
	shared.NoRoute, shared.NoRecollection = true, true
	shared.At, shared.Memory = answer.At, answer.Memory
	shared.Preferences, shared.WithoutTurn = 0, ""
	found, err := s.Recall(ctx, shared)
	if err != nil {
		return Answer{}, err
	}
	if found.Memories, err = s.open(ctx, q.Owner.AppID, found.Memories); err != nil {
		return Answer{}, err
	}
	answer.merge([]Answer{answer, found}, q.Limit)
	if !q.NoTouch {
		answer.Memories = s.Recollect(ctx, q.Owner, answer.Memories)
		s.Touch(q.Owner, OwnIDs(answer.Memories), answer.At)
	}
	return answer, nil
}

// open returns the memories of the pool that may answer, each with whose it is.
func (s *Service) open(ctx context.Context, appID string, memories []Recalled) (open []Recalled, err error) {
	if len(memories) == 0 {
		return nil, nil
	}
	entries, err := s.records.OpenPooled(ctx, appID, idsOf(memories))
	for _, m := range memories {
		if entry, found := entries[m.Memory.ID]; found {
			m.Pooled = &entry
			open = append(open, m)
		}
	}
	return open, err
}

// OwnIDs returns the ids of the memories that are of the user who asks, and not of the pool.
func OwnIDs(recalled []Recalled) (ids []string) {
	for _, r := range recalled {
		if r.Pooled == nil {
			ids = append(ids, r.Memory.ID)
		}
	}
	return ids
}
