package recall

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"hippocampus/internal/memory"
)

// growth counts the memories that are added for each owner, so that the index of an owner with many documents is stored
// although no client recalls:
//
//	added memories -> counted -> an eighth of the documents: due -> no more for a moment -> index stored
//	                                                          due again <- after growPause <- failed
type growth struct {
	mu   sync.Mutex
	left *lru.Cache[memory.Owner, int] // memories that may still be added before the owner is due
	due  map[memory.Owner]*dueOwner
}

// dueOwner is an owner whose index should be stored when the owner stops growing. While an import adds memories, the
// index would be stored again and again.
type dueOwner struct {
	growing bool // since the last look
	looks   int  // so far
	pause   int  // the next looks that leave the owner out, after a failure
}

const (
	maxGrowing   = 10_000          // owners that are counted, and owners that are due
	growInterval = 2 * time.Second // between two looks for owners that are due
	growLooks    = 15              // the most looks at which an owner that keeps growing is left out
	growPause    = 15              // looks that leave an owner out whose index could not be stored
	growTimeout  = time.Minute     // for reading one owner's documents
)

func newGrowth() *growth {
	left, _ := lru.New[memory.Owner, int](maxGrowing) // fails only for a size below 1
	return &growth{left: left, due: map[memory.Owner]*dueOwner{}}
}

func (g *growth) add(owner memory.Owner, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	left, known := g.left.Get(owner)
	if !known {
		left = leastStored / storedChanges
	}
	left -= n
	g.left.Add(owner, left)
	if due := g.due[owner]; due != nil {
		due.growing = true
	} else if left <= 0 && len(g.due) < maxGrowing {
		g.due[owner] = &dueOwner{growing: true}
	}
}

// take removes and returns the owners that are due and have stopped growing, but not those that pause; or all that are
// due.
func (g *growth) take(all bool) (owners []memory.Owner) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for owner, due := range g.due {
		if due.pause > 0 && !all {
			due.pause--
			continue
		}
		due.looks++
		if all || !due.growing || due.looks > growLooks {
			owners = append(owners, owner)
			delete(g.due, owner)
		}
		due.growing = false
	}
	return owners
}

// stayDue makes owners due who have stopped growing, after a pause of some looks.
func (g *growth) stayDue(pause int, owners ...memory.Owner) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, owner := range owners {
		if g.due[owner] == nil && len(g.due) < maxGrowing {
			g.due[owner] = &dueOwner{pause: pause}
		}
	}
}

// set makes an owner due again after n further memories.
func (g *growth) set(owner memory.Owner, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left.Add(owner, n)
}

// MemoriesAdded has Run store the owner's index after many additions, so that a first recall of the owner
// does not read all documents. It only counts.
func (s *Service) MemoriesAdded(owner memory.Owner, added int) { s.growth.add(owner, added) }

// storeGrown stores the indexes of owners who have grown, one after the other. An owner whose index could not be stored
// stays due, and so do all that are left when the context ends.
func (s *Service) storeGrown(ctx context.Context, owners []memory.Owner) {
	for i, owner := range owners {
		left, err := s.storeIfGrown(ctx, owner)
		if err != nil && ctx.Err() != nil {
			s.growth.stayDue(0, owners[i:]...)
			return
		}
		if err != nil {
			s.log.Warn("the index of a user who has grown is not stored yet: the first recall of the user takes longer",
				zap.Error(err))
			s.growth.stayDue(growPause, owner)
			continue
		}
		s.growth.set(owner, max(1, left))
	}
}

// storeIfGrown stores an owner's index if the owner has many documents and many of them are not in the stored index. It
// returns how many memories may be added until that must be checked again.
func (s *Service) storeIfGrown(ctx context.Context, owner memory.Owner) (left int, err error) {
	ctx, cancel := context.WithTimeout(ctx, growTimeout)
	defer cancel()
	active, err := s.records.CountActive(ctx, owner)
	if err != nil || active < leastStored {
		return leastStored - active, err
	}
	zone, err := s.zoneOf(ctx, owner)
	if err != nil {
		return 0, err
	}
	x, cached := s.indexes.Get(indexKey(owner))
	cached = cached && x.isIn(zone)
	if !cached {
		if x, err = s.stored(ctx, owner, zone); err != nil {
			return 0, err
		}
	}
	read, err := s.records.Changes(ctx, owner, x.revision, s.now(), 0)
	switch {
	case err != nil:
		return 0, err
	case read.All:
		x = indexOf(read, zone)
	case cached:
		x = s.indexes.change(owner, x, read)
	default: // not cached: an import would displace the indexes of users who recall
		x = x.changed(read)
	}
	if _, claimed := x.claimSave(); claimed {
		if err := s.store(ctx, saving{owner, x}); err != nil {
			return 0, err
		}
	}
	// unsaved + left is an eighth of len(docs) + left.
	return (len(x.docs)-storedChanges*int(x.unsaved.Load()))/(storedChanges-1) + 1, nil
}
