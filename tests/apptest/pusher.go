package apptest

import (
	"context"
	"slices"
	"sync"
	"time"

	"hippocampus/internal/memory"
)

// Pusher records the ids of the memories that it is asked to push, in place of
// the projection.
type Pusher struct {
	clock *Clock
	mu    sync.Mutex
	ids   []string
}

// NewPusher returns a Pusher that claims memories for a minute of this clock.
func NewPusher(clock *Clock) *Pusher { return &Pusher{clock: clock} }

// ClaimedUntil returns the instant until which new memories are claimed.
func (p *Pusher) ClaimedUntil() time.Time { return p.clock.Now().Add(time.Minute) }

// Push records the ids.
func (p *Pusher) Push(_ context.Context, ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids = append(p.ids, ids...)
}

// PushNew records the ids of the list.
func (p *Pusher) PushNew(ctx context.Context, list []memory.Memory) {
	for _, m := range list {
		p.Push(ctx, []string{m.ID})
	}
}

// Pushed returns the ids so far, in order.
func (p *Pusher) Pushed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.ids)
}

// Reset forgets the ids so far.
func (p *Pusher) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids = nil
}
