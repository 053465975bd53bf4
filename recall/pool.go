package recall

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hippocampus/internal/memory"
)

// recallWithPool recalls the owner's memories and those of the app's shared pool. While nothing is recalled of the
// owner, since memory is off or the query is small talk, the pool is not searched. The accesses of the owner's memories
// alone are counted.
func (s *Service) recallWithPool(ctx context.Context, q Query) (Answer, error) {
	began := s.now()
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
	later := s.now().Sub(began)
	found, err := s.Recall(ctx, shared)
	if err != nil {
		return Answer{}, err
	}
	if found.Memories, err = s.open(ctx, q.Owner.AppID, found.Memories); err != nil {
		return Answer{}, err
	}
	returned := slices.Concat(answer.Memories, found.Memories)
	answer.merge([]Answer{answer, found}, q.Limit)
	if q.Explain {
		if err := s.explainPool(ctx, q, &answer, found.Explanation, later, returned); err != nil {
			return Answer{}, err
		}
	}
	if !q.NoTouch {
		answer.Memories = s.Recollect(ctx, q.Owner, answer.Memories)
		s.Touch(q.Owner, OwnIDs(answer.Memories), answer.At)
	}
	return answer, nil
}

// explainPool adds the explanation of the pool, whose recall began later, to that of an answer. Of the memories that
// both recalls returned, it lists the ones that the answer does not have. Memories of the pool that may not answer are
// not listed.
func (s *Service) explainPool(
	ctx context.Context, q Query, answer *Answer, pool *Explanation, later time.Duration, returned []Recalled,
) error {
	e := answer.Explanation
	e.Memories += pool.Memories
	e.Matching += pool.Matching
	e.Candidates += pool.Candidates
	for _, stage := range pool.Stages {
		stage.Start += later
		e.Stages = append(e.Stages, stage)
	}
	leftOut := make([]Recalled, len(pool.LeftOut))
	for i, l := range pool.LeftOut {
		leftOut[i] = l.Recalled
	}
	open, err := s.open(ctx, q.Owner.AppID, leftOut)
	if err != nil {
		return err
	}
	for _, l := range pool.LeftOut {
		i := slices.IndexFunc(open, func(r Recalled) bool { return r.Memory.ID == l.Memory.ID })
		if i >= 0 {
			l.Recalled = open[i]
			e.LeftOut = append(e.LeftOut, l)
		}
	}
	for _, m := range returned {
		i := slices.IndexFunc(answer.Memories, func(kept Recalled) bool {
			return kept.Memory.Speaker == m.Memory.Speaker && kept.Memory.Content == m.Memory.Content
		})
		switch {
		case i < 0:
			e.LeftOut = append(e.LeftOut, LeftOut{Recalled: m, Reason: BeyondLimit})
		case answer.Memories[i].Memory.ID != m.Memory.ID:
			e.LeftOut = append(e.LeftOut, LeftOut{Recalled: m, Reason: Represented, By: answer.Memories[i].Memory.ID})
		}
	}
	slices.SortStableFunc(e.LeftOut, func(a, b LeftOut) int { return cmp.Compare(b.Score, a.Score) })
	e.LeftOut = e.LeftOut[:min(MaxLeftOut, len(e.LeftOut))]
	return nil
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
