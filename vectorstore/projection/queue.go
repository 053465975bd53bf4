package projection

import (
	"context"
	"slices"
	"sync"
	"time"

	"hippocampus/db"
)

// queue holds committed changes whose answers are out until they are pushed:
//
//	change -> waiting -> the first at once, those that come meanwhile together -> push
//
// It is open while somebody takes from it.
type queue struct {
	mu      sync.Mutex
	open    bool
	held    int      // memories that wait
	born    []born   // claimed with their insertion
	changed []string // ids that are to be claimed
	wake    chan struct{}
}

// born are memories that were inserted in one transaction.
type born struct {
	tasks []db.VectorTask
	since time.Time // for as long they have been waiting
}

// Memories that wait, and that are pushed at once.
const (
	mostQueued = 4000
	mostPushed = 1000
)

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// add reports whether the queue takes a change. Where it is full or shut, the
// caller pushes: no more is written than the vector store takes.
func (q *queue) add(change born, changed []string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(change.tasks) + len(changed)
	if !q.open || q.held > 0 && q.held+n > mostQueued {
		return false
	}
	q.held += n
	if len(change.tasks) > 0 {
		q.born = append(q.born, change)
	}
	q.changed = append(q.changed, changed...)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return true
}

// take returns what has waited for longest: of both kinds, so that a memory is
// pushed as new before it is as changed.
func (q *queue) take() (taken []born, changed []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, rows := 0, 0
	for n < len(q.born) && (n == 0 || rows+len(q.born[n].tasks) <= mostPushed) {
		rows += len(q.born[n].tasks)
		n++
	}
	// What is taken is not kept alive by the array that it waited in.
	taken = slices.Clone(q.born[:n])
	if q.born = slices.Delete(q.born, 0, n); len(q.born) == 0 {
		n = min(len(q.changed), mostPushed)
		changed, q.changed = slices.Clone(q.changed[:n]), slices.Delete(q.changed, 0, n)
	}
	q.held -= rows + len(changed)
	return taken, changed
}

func (q *queue) set(open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = open
}

// pushQueued pushes what is added to the queue until the context ends, and then
// the rest, as far as the vector store takes it.
func (p *Projection) pushQueued(ctx context.Context) {
	lasting := context.WithoutCancel(ctx)
	away := false // the last push did not arrive
	for ended := false; !ended; {
		select {
		case <-p.queued.wake:
		case <-ctx.Done():
			p.queued.set(false)
			ended = true
		}
		for taken, changed := p.queued.take(); len(taken)+len(changed) > 0; taken, changed = p.queued.take() {
			if away && ctx.Err() != nil {
				p.putOffBorn(lasting, taken) // what is changed is due as it is
				continue
			}
			away = !p.pushBorn(lasting, taken)
			p.pushChanged(lasting, changed)
		}
	}
}

// pushBorn pushes new memories together, and reports whether all arrived. Those
// that have waited so long that their claims might end first are given back,
// due at once; where a claim may have ended, the row is already another's.
func (p *Projection) pushBorn(ctx context.Context, taken []born) bool {
	var tasks []db.VectorTask
	var late []db.VectorRetry
	now := p.now()
	for _, b := range taken {
		switch waited := now.Sub(b.since); {
		case waited <= p.set.Lease/4:
			tasks = append(tasks, b.tasks...)
		case waited < p.set.Lease:
			for _, t := range b.tasks {
				late = append(late, db.VectorRetry{ID: t.Memory.ID, Due: now})
			}
		}
	}
	if len(late) > 0 {
		p.retry(ctx, late)
	}
	return p.push(ctx, tasks)
}

// putOffBorn leaves new memories to the reconciler.
func (p *Projection) putOffBorn(ctx context.Context, late []born) {
	var tasks []db.VectorTask
	for _, b := range late {
		tasks = append(tasks, b.tasks...)
	}
	if len(tasks) > 0 {
		p.putOff(ctx, tasks)
	}
}
