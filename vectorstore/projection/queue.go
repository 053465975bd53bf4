package projection

import (
	"context"
	"slices"
	"sync"
	"time"

	"hippocampus/db"
)

// queue holds committed changes until they are pushed:
//
//	change -> waiting -> the first at once, those that arrive during its push as one batch -> push
//
// It accepts changes while it is open.
type queue struct {
	mu         sync.Mutex
	open       bool
	size       int         // memories that wait
	insertions []insertion // claimed when they were inserted
	changed    []string    // ids that must be claimed
	wake       chan struct{}
}

// insertion is the memories that one transaction inserted.
type insertion struct {
	tasks []db.VectorTask
	at    time.Time
}

const (
	maxQueued = 4000 // memories that wait
	maxPushed = 1000 // memories that are pushed at once
)

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// add reports whether the queue accepts a change. If it is full or closed, the
// caller must push, so that writes are no faster than the vector store.
func (q *queue) add(change insertion, changed []string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(change.tasks) + len(changed)
	if !q.open || q.size > 0 && q.size+n > maxQueued {
		return false
	}
	q.size += n
	if len(change.tasks) > 0 {
		q.insertions = append(q.insertions, change)
	}
	q.changed = append(q.changed, changed...)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return true
}

// take removes and returns what has waited longest. It returns changes only
// after all insertions, so that a memory is pushed as new before it is pushed as
// changed.
func (q *queue) take() (taken []insertion, changed []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, rows := 0, 0
	for n < len(q.insertions) && (n == 0 || rows+len(q.insertions[n].tasks) <= maxPushed) {
		rows += len(q.insertions[n].tasks)
		n++
	}
	// Clone and Delete release what is taken from the queue's arrays.
	taken = slices.Clone(q.insertions[:n])
	if q.insertions = slices.Delete(q.insertions, 0, n); len(q.insertions) == 0 {
		n = min(len(q.changed), maxPushed)
		changed, q.changed = slices.Clone(q.changed[:n]), slices.Delete(q.changed, 0, n)
	}
	q.size -= rows + len(changed)
	return taken, changed
}

func (q *queue) setOpen(open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = open
}

// pushQueued pushes what is added to the queue until the context ends, and then
// the rest, until a push fails.
func (p *Projection) pushQueued(ctx context.Context) {
	lasting := context.WithoutCancel(ctx)
	failed := false // the last push failed
	for ended := false; !ended; {
		select {
		case <-p.queue.wake:
		case <-ctx.Done():
			p.queue.setOpen(false)
			ended = true
		}
		for taken, changed := p.queue.take(); len(taken)+len(changed) > 0; taken, changed = p.queue.take() {
			if failed && ctx.Err() != nil {
				p.postpone(lasting, tasksOf(taken)) // the rows of changed are due already
				continue
			}
			failed = !p.pushInserted(lasting, taken)
			p.pushChanged(lasting, changed)
		}
	}
}

func tasksOf(insertions []insertion) (tasks []db.VectorTask) {
	for _, inserted := range insertions {
		tasks = append(tasks, inserted.tasks...)
	}
	return tasks
}

// pushInserted pushes new memories and reports whether all were written. It makes memories due whose claims might end
// during the push. It leaves a memory alone whose claim may have ended already, since another pusher may have claimed
// it.
func (p *Projection) pushInserted(ctx context.Context, taken []insertion) bool {
	var tasks []db.VectorTask
	var late []db.VectorRetry
	now := p.now()
	for _, inserted := range taken {
		switch waited := now.Sub(inserted.at); {
		case waited <= p.set.Lease/4:
			tasks = append(tasks, inserted.tasks...)
		case waited < p.set.Lease:
			for _, t := range inserted.tasks {
				late = append(late, db.VectorRetry{ID: t.Memory.ID, Claim: t.Claim, Due: now})
			}
		}
	}
	p.endClaims(ctx, late)
	return p.pushApart(ctx, tasks)
}
