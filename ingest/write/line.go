package write

import (
	"context"
	"sync"
	"time"

	"hippocampus/internal/memory"
)

// lines let the batches of a user be compared and written one after the other, in the order of their arrival, so that
// a batch is compared with what the one before it has written.
type lines struct {
	mu sync.Mutex
	of map[memory.Owner]*line // of users with a batch under way
}

// line is the batches of one user.
type line struct {
	turn    chan struct{} // holds the only place, unless a batch has it
	members int           // batches that have the place or wait for it
}

// maxWaiting bounds the batches of one user that wait, since each occupies a worker that other users may need.
const maxWaiting = 3

// enter waits until the user's other batches are written. It gives up waiting after the limit, and at once if
// maxWaiting others wait: the caller then runs at the same time. leave must be called in any case.
func (l *lines) enter(ctx context.Context, owner memory.Owner, limit time.Duration) (leave func()) {
	l.mu.Lock()
	if l.of == nil {
		l.of = map[memory.Owner]*line{}
	}
	own := l.of[owner]
	if own == nil {
		own = &line{turn: make(chan struct{}, 1)}
		own.turn <- struct{}{}
		l.of[owner] = own
	}
	if own.members > maxWaiting {
		l.mu.Unlock()
		return func() {}
	}
	own.members++
	l.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	has := false
	select {
	case <-own.turn:
		has = true
	case <-timer.C:
	case <-ctx.Done():
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if has {
			own.turn <- struct{}{}
		}
		own.members--
		if own.members == 0 {
			delete(l.of, owner)
		}
	}
}
