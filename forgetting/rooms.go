package forgetting

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"hippocampus/internal/memory"
)

// maxRooms is for how many users the room is known; those who have not written
// for the longest are counted again.
const maxRooms = 100_000

// rooms is how many memories may still be added for each user before they must
// be counted.
type rooms struct {
	mu   sync.Mutex
	left *lru.Cache[memory.Owner, int]
}

func newRooms() *rooms {
	left, _ := lru.New[memory.Owner, int](maxRooms) // fails only for a size below 1
	return &rooms{left: left}
}

// take uses room for n memories; false: there is not enough, or it is not known.
func (r *rooms) take(owner memory.Owner, n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, known := r.left.Get(owner)
	if !known || left < n {
		r.left.Remove(owner)
		return false
	}
	r.left.Add(owner, left-n)
	return true
}

func (r *rooms) set(owner memory.Owner, left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left.Add(owner, left)
}
