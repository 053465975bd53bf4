package postgres

import (
	"context"
	"sync"

	"hippocampus/internal/memory"
)

// owners lets in one writer at a time for each owner.
type owners struct {
	mu    sync.Mutex
	doors map[memory.Owner]*door // of the owners with writers inside or waiting
}

type door struct {
	inside  chan struct{} // holds the one who is in
	writers int           // inside or waiting
}

// enter waits until nobody else writes for the owner, or the context ends.
// Whoever has entered must leave.
func (o *owners) enter(ctx context.Context, owner memory.Owner) (leave func(), err error) {
	d := o.approach(owner)
	select {
	case d.inside <- struct{}{}:
		return func() {
			<-d.inside
			o.depart(owner, d)
		}, nil
	case <-ctx.Done():
		o.depart(owner, d)
		return nil, ctx.Err()
	}
}

func (o *owners) approach(owner memory.Owner) *door {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.doors[owner]
	if d == nil {
		if o.doors == nil {
			o.doors = map[memory.Owner]*door{}
		}
		d = &door{inside: make(chan struct{}, 1)}
		o.doors[owner] = d
	}
	d.writers++
	return d
}

func (o *owners) depart(owner memory.Owner, d *door) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d.writers--; d.writers == 0 {
		delete(o.doors, owner)
	}
}
