package forgetting

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"hippocampus/internal/memory"
)

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
