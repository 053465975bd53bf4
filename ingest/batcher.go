package ingest

import (
	"context"
	"sync"
	"time"
)

// batcher collects ids of turns for a statement that is cheaper for many turns at once:
// the first id goes at once, those of the next endPace go together.
type batcher struct {
	mu     sync.Mutex
	open   bool // ids are accepted
	queued []string
	wake   chan struct{} // holds a value if ids are queued
}

const (
	maxQueued = 20_000
	maxBatch  = 500
	endPace   = 10 * time.Millisecond // between two batches; clients wait for the second
)

func newBatcher() *batcher { return &batcher{wake: make(chan struct{}, 1)} }

// add queues an id. It reports false if the batcher is closed or full.
func (b *batcher) add(turnID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open || len(b.queued) == maxQueued {
		return false
	}
	b.queued = append(b.queued, turnID)
	signal(b.wake)
	return true
}

func (b *batcher) setOpen(open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = open
}

// take removes the next batch from the queue.
func (b *batcher) take() (turnIDs []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.queued), maxBatch)
	turnIDs, b.queued = b.queued[:n:n], b.queued[n:]
	return turnIDs
}

// run calls f with each batch until the context ends, and then with what is still queued.
func (b *batcher) run(ctx context.Context, f func(turnIDs []string)) {
	for {
		select {
		case <-b.wake:
		case <-ctx.Done():
		}
		for turnIDs := b.take(); len(turnIDs) > 0; turnIDs = b.take() {
			f(turnIDs)
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
