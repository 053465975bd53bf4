package ingest

import (
	"context"
	"sync"
	"time"
)

// together collects ids of turns for what is cheaper done to many at once:
//
//	turn -> waiting -> the first at once, those of the next milliseconds together -> done
type together struct {
	pace time.Duration // least time between two times: what a turn of a crowd may wait

	mu      sync.Mutex
	shut    bool // nobody will do it: it takes nothing
	waiting []string
	wake    chan struct{} // holds one where some wait
}

// Turns that wait in memory, and that something is done to at once.
const (
	mostWaiting = 20_000
	mostAtOnce  = 500
)

func newTogether(pace time.Duration, shut bool) *together {
	return &together{pace: pace, shut: shut, wake: make(chan struct{}, 1)}
}

// add reports whether there is room for one more.
func (t *together) add(turnID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shut || len(t.waiting) == mostWaiting {
		return false
	}
	t.waiting = append(t.waiting, turnID)
	select {
	case t.wake <- struct{}{}:
	default:
	}
	return true
}

func (t *together) set(shut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shut = shut
}

// take returns the turns that wait for longest.
func (t *together) take() (turnIDs []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(len(t.waiting), mostAtOnce)
	turnIDs, t.waiting = t.waiting[:n:n], t.waiting[n:]
	return turnIDs
}

// run does it until the context ends, and then to those that still wait.
func (t *together) run(ctx context.Context, do func(ctx context.Context, turnIDs []string)) {
	for {
		select {
		case <-t.wake:
		case <-ctx.Done():
		}
		for turnIDs := t.take(); len(turnIDs) > 0; turnIDs = t.take() {
			do(ctx, turnIDs)
		}
		if ctx.Err() != nil {
			return
		}
		timer := time.NewTimer(t.pace)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}
