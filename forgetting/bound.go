package forgetting

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// byBound is the cause of what is forgotten because a user has too many memories.
const byBound = "bound"

// sharers is among how many servers the room that is left for a user is
// divided: as long as there are no more of them, none needs to know what the
// others write.
const sharers = 8

// boundTimeout bounds the work that a write waits for.
const boundTimeout = time.Minute

// MemoriesAdded hears that memories of a user were added, and forgets what is over
// the maximum before it returns: those of the lowest retention, and never a
// pinned one. Counting takes as long as there are memories, so that it is done
// only when this process has written its share of the room that it last saw, or
// has seen it a minute ago or more.
// What fails is tried again with the user's next write, and by RunAll.
func (s *Service) MemoriesAdded(ctx context.Context, owner memory.Owner, added int) {
	if s.set.MaxMemories == 0 || s.rooms.take(owner, added, s.now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), boundTimeout)
	defer cancel()
	if _, err := s.Trim(ctx, owner); err != nil {
		s.log.Warn("a user's memories could not be brought under their maximum", zap.String("app", owner.AppID), zap.Error(err))
	}
}

// Trim forgets what a user has over the maximum of active memories, as Grown
// does, and returns how many that were. A hundredth of the maximum is left
// free, so that the next writes need not do the same.
func (s *Service) Trim(ctx context.Context, owner memory.Owner) (forgotten int, err error) {
	if s.set.MaxMemories == 0 {
		return 0, nil
	}
	active, err := s.records.CountActive(ctx, owner)
	if err != nil {
		return 0, err
	}
	spare := s.set.MaxMemories / 100
	if active > s.set.MaxMemories {
		least, err := s.least(ctx, owner, s.set.MaxMemories-spare)
		if err != nil {
			return 0, err
		}
		for part := range slices.Chunk(least, batch) {
			gone, err := s.forget(ctx, owner, part, byBound, s.surplus)
			if forgotten += len(gone); err != nil {
				return forgotten, err
			}
		}
	}
	room := s.set.MaxMemories - active + forgotten
	if room < 0 { // all that is left is pinned
		room = sharers * spare
	}
	s.rooms.set(owner, room/sharers, s.now())
	return forgotten, nil
}

// least are the ids of those memories that are more than keep, the lowest
// retention first, ties by age, then id. Pinned ones are left out.
func (s *Service) least(ctx context.Context, owner memory.Owner, keep int) ([]string, error) {
	type candidate struct {
		id        string
		retention float64
		created   time.Time
	}
	var candidates []candidate
	active, now := 0, s.now()
	err := s.records.OwnerAges(ctx, owner, func(id string, a db.Age) error {
		if active++; !a.Pinned {
			candidates = append(candidates, candidate{id, s.set.Retention(a, now), a.CreatedAt})
		}
		return nil
	})
	if err != nil || active <= keep {
		return nil, err
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.retention, b.retention), a.created.Compare(b.created), cmp.Compare(a.id, b.id))
	})
	ids := make([]string, min(active-keep, len(candidates)))
	for i := range ids {
		ids[i] = candidates[i].id
	}
	return ids, nil
}

// crowded is the detail of a forgotten event.
type crowded struct {
	*history.Change
	Retention float64 `json:"retention"`
	Maximum   int     `json:"maximum"` // of active memories
}

// surplus is the reason to forget a memory that is over the maximum.
func (s *Service) surplus(m memory.Memory, change *history.Change) (detail any, still bool) {
	return crowded{change, s.set.Retention(AgeOf(m), s.now()), s.set.MaxMemories}, !m.Pinned
}
