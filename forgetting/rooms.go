package forgetting

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"hippocampus/internal/memory"
)

// maxRooms is for how many users the room is known; those who have not written
// for the longest are counted again.
const maxRooms = 100_000

// roomAge is for how long a count is believed: others add memories, too, which
// this process is not told of.
const roomAge = time.Minute

// rooms is how many memories may still be added for each user before they must
// be counted.
type rooms struct {
	mu   sync.Mutex
	seen *lru.Cache[memory.Owner, seenRoom]
}

// seenRoom is what was left for a user at an instant, without what was used since.
type seenRoom struct {
	left int
	at   time.Time
}

func newRooms() *rooms {
	seen, _ := lru.New[memory.Owner, seenRoom](maxRooms) // fails only for a size below 1
	return &rooms{seen: seen}
}

// take uses room for n memories; false: there is not enough, or it is not known
// any more.
func (r *rooms) take(owner memory.Owner, n int, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, known := r.seen.Get(owner)
	if !known || seen.left < n || now.Sub(seen.at) >= roomAge {
		r.seen.Remove(owner)
		return false
	}
	r.seen.Add(owner, seenRoom{seen.left - n, seen.at})
	return true
}

func (r *rooms) set(owner memory.Owner, left int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Add(owner, seenRoom{left, now})
}
