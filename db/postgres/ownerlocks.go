package postgres

import (
	"context"
	"sync"

	"hippocampus/internal/memory"
)

// ownerLocks lets one writer of this process write for an owner at a time.
type ownerLocks struct {
	mu    sync.Mutex
	locks map[memory.Owner]*ownerLock // those that are held or waited for
}

type ownerLock struct {
	held  chan struct{} // full while the lock is held
	users int           // the holder and those who wait
}

// acquire waits until the owner's lock is free, or the context ends.
func (l *ownerLocks) acquire(ctx context.Context, owner memory.Owner) (release func(), err error) {
	lock := l.join(owner)
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
func (l *ownerLocks) join(owner memory.Owner) *ownerLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock := l.locks[owner]
	if lock == nil {
		if l.locks == nil {
			l.locks = map[memory.Owner]*ownerLock{}
		}
		lock = &ownerLock{held: make(chan struct{}, 1)}
		l.locks[owner] = lock
	}
	lock.users++
	return lock
}

// leave removes the lock with its last user.
func (l *ownerLocks) leave(owner memory.Owner, lock *ownerLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock.users--
	if lock.users == 0 {
		delete(l.locks, owner)
	}
}
