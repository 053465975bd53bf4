package ingest

import (
	"context"
	"sync"
	"time"

	"hippocampus/db"
)

// batcher collects turns for a statement that is cheaper for many turns at once: the first turn goes at once, and the
// turns that arrive within the next endPace go in one batch.
type batcher struct {
	mu     sync.Mutex
	open   bool // turns are accepted
	queued []db.EndedTurn
	wake   chan struct{} // holds a value if turns are queued
}

const (
	maxQueued = 20_000
	maxBatch  = 500
	endPace   = 10 * time.Millisecond // between two batches; clients wait for the second
)

func newBatcher() *batcher { return &batcher{wake: make(chan struct{}, 1)} }

// add queues a turn. It reports false if the batcher is closed or full.
func (b *batcher) add(turn db.EndedTurn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open || len(b.queued) == maxQueued {
		return false
	}
	b.queued = append(b.queued, turn)
	signal(b.wake)
	return true
}

func (b *batcher) setOpen(open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = open
}

// take removes the next batch from the queue.
func (b *batcher) take() (turns []db.EndedTurn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.queued), maxBatch)
	turns, b.queued = b.queued[:n:n], b.queued[n:]
	return turns
}

// run calls f with each batch until the context ends, and then with the turns that are still queued.
func (b *batcher) run(ctx context.Context, f func(turns []db.EndedTurn)) {
	for {
		select {
		case <-b.wake:
		case <-ctx.Done():
		}
		for turns := b.take(); len(turns) > 0; turns = b.take() {
			f(turns)
		}
		if ctx.Err() != nil {
			return
		}
		timer := time.NewTimer(endPace)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// signal puts a value into a channel of capacity one, unless it holds one.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
