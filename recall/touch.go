package recall

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// TouchStore is the database that accesses are written to.
type TouchStore interface {
	Touch(ctx context.Context, touches []db.Touch) error
}

// Touches counts accesses off the request path: all touches of a memory between
// two flushes become one row of one statement.
type Touches struct {
	store TouchStore
	every time.Duration
	log   *zap.Logger

	mu      sync.Mutex
	waiting map[string]db.Touch
}

// flushTimeout and flushRows bound one statement of a flush. Touches that could
// not be written wait for the next flush.
const (
	flushTimeout = 5 * time.Second
	flushRows    = 2_000
)

// maxWaiting bounds the memories with waiting touches while the database is
// unavailable. Accesses of further memories are not counted: they are a
// statistic, not part of the record.
const maxWaiting = 100_000

// NewTouches collects touches. While Run runs, it writes them at an interval.
func NewTouches(store TouchStore, every time.Duration, log *zap.Logger) *Touches {
	return &Touches{store: store, every: every, log: log, waiting: map[string]db.Touch{}}
}

// Add counts one access of each of the owner's memories at an instant.
func (t *Touches) Add(owner memory.Owner, ids []string, at time.Time) {
	touches := make([]db.Touch, len(ids))
	for i, id := range ids {
		touches[i] = db.Touch{Owner: owner, ID: id, Count: 1, At: at}
	}
	t.merge(touches)
}

// merge adds touches to the waiting touches.
func (t *Touches) merge(touches []db.Touch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, touch := range touches {
		w, known := t.waiting[touch.ID]
		if !known && len(t.waiting) >= maxWaiting {
			continue
		}
		w.Owner, w.ID = touch.Owner, touch.ID
		w.Count += touch.Count
		if touch.At.After(w.At) {
			w.At = touch.At
		}
		t.waiting[touch.ID] = w
	}
}

// Run flushes at the interval until the context ends, then once more.
func (t *Touches) Run(ctx context.Context) { flushEvery(ctx, t.every, t.flush) }

func flushEvery(ctx context.Context, every time.Duration, flush func(ctx context.Context)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			flush(ctx)
		case <-ctx.Done():
			flush(context.WithoutCancel(ctx))
			return
		}
	}
}

func (t *Touches) flush(ctx context.Context) {
	t.mu.Lock()
	taken := t.waiting
	t.waiting = make(map[string]db.Touch, len(taken))
	t.mu.Unlock()
	if len(taken) == 0 {
		return
	}
	batch := slices.Collect(maps.Values(taken))
	for len(batch) > 0 {
		part := batch[:min(flushRows, len(batch))]
		if err := t.write(ctx, part); err != nil {
			t.log.Warn("touches could not be written: they wait for the next flush",
				zap.Int("memories", len(batch)), zap.Error(err))
			t.merge(batch)
			return
		}
		batch = batch[len(part):]
	}
}

func (t *Touches) write(ctx context.Context, touches []db.Touch) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	return t.store.Touch(ctx, touches)
}
