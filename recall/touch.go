package recall

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
)

// Touches counts accesses off the request path: many touches of a memory
// between two flushes become one row of one statement.
type Touches struct {
	store interface {
		Touch(ctx context.Context, touches []db.Touch) error
	}
	every time.Duration
	log   *zap.Logger

	mu      sync.Mutex
	waiting map[string]db.Touch
}

// flushTimeout bounds one statement of a flush, and flushRows its size; what
// could not be written waits for the next flush.
const (
	flushTimeout = 5 * time.Second
	flushRows    = 2_000
)

// maxWaiting bounds memory while the database is away. Beyond it accesses of
// further memories are not counted: a statistic, not the record.
const maxWaiting = 100_000

// NewTouches collects touches and, while Run runs, writes them every so often.
func NewTouches(store interface {
	Touch(ctx context.Context, touches []db.Touch) error
}, every time.Duration, log *zap.Logger) *Touches {
	return &Touches{store: store, every: every, log: log, waiting: map[string]db.Touch{}}
}

// Add counts one access of each memory at an instant.
func (t *Touches) Add(ids []string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		t.merge(db.Touch{ID: id, Count: 1, At: at})
	}
}

func (t *Touches) merge(touch db.Touch) {
	w, known := t.waiting[touch.ID]
	if !known && len(t.waiting) >= maxWaiting {
		return
	}
	w.ID, w.Count = touch.ID, w.Count+touch.Count
	if touch.At.After(w.At) {
		w.At = touch.At
	}
	t.waiting[touch.ID] = w
}

// Run flushes until the context ends, then once more.
func (t *Touches) Run(ctx context.Context) {
	ticker := time.NewTicker(t.every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.flush(ctx)
		case <-ctx.Done():
			t.flush(context.WithoutCancel(ctx))
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
	batch := make([]db.Touch, 0, len(taken))
	for _, touch := range taken {
		batch = append(batch, touch)
	}
	for len(batch) > 0 {
		part := batch[:min(flushRows, len(batch))]
		if err := t.write(ctx, part); err != nil {
			t.log.Warn("touches wait for the database", zap.Int("memories", len(batch)), zap.Error(err))
			t.takeBack(batch)
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

func (t *Touches) takeBack(touches []db.Touch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, touch := range touches {
		t.merge(touch)
	}
}
