// Package ownerlock runs the work of one owner within this process one piece after the other, in the order of its
// arrival.
package ownerlock

import (
	"context"
	"errors"
	"sync"

	"hippocampus/internal/memory"
)

// ErrCrowded is returned if MaxWaiting callers already wait for a lock.
var ErrCrowded = errors.New("too many wait for the lock of the owner")

// Locks has a lock for each owner. The zero value is usable.
type Locks struct {
	MaxWaiting int // for one lock at the same time; 0: any number

	mu    sync.Mutex
	locks map[memory.Owner]*lock // those that are held or waited for
}

type lock struct {
	held  chan struct{} // full while the lock is held
	users int           // the holder and those who wait
}

// Acquire waits until the owner's lock is free, or the context ends. ErrCrowded: MaxWaiting callers wait already.
func (l *Locks) Acquire(ctx context.Context, owner memory.Owner) (release func(), err error) {
	lock, err := l.join(owner)
	if err != nil {
		return nil, err
	}
	select {
	case lock.held <- struct{}{}:
		return func() {
			<-lock.held
			l.leave(owner, lock)
		}, nil
	case <-ctx.Done():
		l.leave(owner, lock)
		return nil, ctx.Err()
	}
}

// join counts a user of the owner's lock.
func (l *Locks) join(owner memory.Owner) (*lock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.locks[owner]
	if own == nil {
		if l.locks == nil {
			l.locks = map[memory.Owner]*lock{}
		}
		own = &lock{held: make(chan struct{}, 1)}
		l.locks[owner] = own
	}
	if l.MaxWaiting > 0 && own.users > l.MaxWaiting {
		return nil, ErrCrowded
	}
	own.users++
	return own, nil
}

// leave removes the lock with its last user.
func (l *Locks) leave(owner memory.Owner, lock *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock.users--
	if lock.users == 0 {
		delete(l.locks, owner)
	}
}
