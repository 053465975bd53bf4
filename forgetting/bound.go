package forgetting

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// byBound is the cause of what is forgotten because a user has too many memories.
const byBound = "bound"

// sharers is the number of servers that share the remaining room of a user. Up
// to this number of servers, each needs to know only what it writes.
const sharers = 8

// boundTimeout limits how long a write waits for MemoriesAdded.
const boundTimeout = time.Minute

// MemoriesAdded forgets a user's active memories beyond the maximum: those of the lowest retention, but no pinned ones.
// Counting takes time in proportion to the memories, so they are counted only if this process has used up its share of
// the room, or the last count is older than roomAge. The user's next write and RunAll retry after a failure.
func (s *Service) MemoriesAdded(ctx context.Context, owner memory.Owner, added int) {
	if s.set.MaxMemories == 0 || owner.IsPool() || s.rooms.take(owner, added, s.now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), boundTimeout)
	defer cancel()
	if _, err := s.Trim(ctx, owner); err != nil {
		s.log.Warn("the maximum of a user's memories could not be enforced", zap.String("app", owner.AppID), zap.Error(err))
	}
}

// Trim forgets the memories that a user has over the maximum and returns their
// number. It leaves a hundredth of the maximum free for the next writes.
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
		rule, err := s.RuleFor(ctx, owner)
		if err != nil {
			return 0, err
		}
		surplus, err := s.surplus(ctx, owner, rule, s.set.MaxMemories-spare)
		if err != nil {
			return 0, err
		}
		ids, err := s.forget(ctx, owner, surplus, byBound, s.overBound(rule), nil)
		forgotten = len(ids)
		if err != nil {
			return forgotten, err
		}
	}
	room := s.set.MaxMemories - active + forgotten
	if room < 0 { // only pinned memories are left
		room = sharers * spare
	}
	s.rooms.set(owner, room/sharers, s.now())
	return forgotten, nil
}

// surplus lists the memories to forget so that only keep remain: messages first, then
// the lowest retention by a rule, then by age and id. Pinned ones are left out.
func (s *Service) surplus(ctx context.Context, owner memory.Owner, rule Rule, keep int) ([]string, error) {
	var candidates []candidate
	active, now := 0, s.now()
	err := s.records.OwnerAges(ctx, owner, func(id string, a db.Age) error {
		active++
		if !a.Pinned {
			candidates = append(candidates, candidate{
				id: id, message: a.Type == memory.TypeMessage, retention: rule.Retention(a, now), created: a.CreatedAt,
			})
		}
		return nil
	})
	if err != nil || active <= keep {
		return nil, err
	}
	return lowest(candidates, active-keep), nil
}

// candidate is a memory that may be forgotten.
type candidate struct {
	id        string
	message   bool
	retention float64
	created   time.Time
}

// lowest returns the ids of up to n candidates: messages first, then the lowest retention,
// then by age and id.
func lowest(candidates []candidate, n int) []string {
	slices.SortFunc(candidates, func(a, b candidate) int {
		if a.message != b.message {
			if a.message {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.retention, b.retention), a.created.Compare(b.created), cmp.Compare(a.id, b.id))
	})
	ids := make([]string, min(n, len(candidates)))
	for i := range ids {
		ids[i] = candidates[i].id
	}
	return ids
}

// overBoundDetail is the detail of a forgotten event.
type overBoundDetail struct {
	*history.Change
	Retention float64 `json:"retention"`
	Maximum   int     `json:"maximum"` // of active memories
}

// overBound returns the reason to forget a memory because the user has too many.
func (s *Service) overBound(rule Rule) reason {
	return func(m memory.Memory, change *history.Change) (detail any, applies bool) {
		return overBoundDetail{change, rule.Retention(AgeOf(m), s.now()), s.set.MaxMemories}, !m.Pinned
	}
}

// maxRooms is the number of users whose room is known; the others are counted again.
const maxRooms = 100_000

// roomAge is how long a count is used: other processes add memories also.
const roomAge = time.Minute

// rooms holds how many memories each user may add before they must be counted.
type rooms struct {
	mu   sync.Mutex
	seen *lru.Cache[memory.Owner, room]
}

// room is how many memories a user may still add, as counted at an instant.
type room struct {
	left int
	at   time.Time
}

func newRooms() *rooms {
	seen, _ := lru.New[memory.Owner, room](maxRooms) // fails only for a size below 1
	return &rooms{seen: seen}
}

// take uses up room for n memories. It returns false if too little is left or
// the count is too old.
func (r *rooms) take(owner memory.Owner, n int, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, known := r.seen.Get(owner)
	if !known || seen.left < n || now.Sub(seen.at) >= roomAge {
		r.seen.Remove(owner)
		return false
	}
	r.seen.Add(owner, room{left: seen.left - n, at: seen.at})
	return true
}

func (r *rooms) set(owner memory.Owner, left int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Add(owner, room{left: left, at: now})
}
