// Package projection keeps the vector store equal to the database:
//
//	committed change -> queue -> push -> confirmed
//	                              | failed
//	                              v
//	reconciler: claim what is due -> push -> confirmed, or due again later
//
// Nobody waits for the queue, unless it is full: recall has what is not confirmed
// from the database. What a process that dies has queued is due in the database.
// A push is idempotent, a memory has one pusher at a time (it holds the row's
// claim), and nothing is ever given up.
package projection

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Vectors is what a push needs of the vector store.
type Vectors interface {
	Insert(ctx context.Context, records []vectorstore.Record) error
	Replace(ctx context.Context, records []vectorstore.Record) error
	Delete(ctx context.Context, ids []string) error
}

// Settings of the pushes; server/config states their defaults and ranges.
type Settings struct {
	Interval     time.Duration // between looks for due rows
	Batch        int           // rows claimed at once
	Lease        time.Duration // how long a claim lasts; a push gets half of it
	Backoff      time.Duration // after the first failed push; doubles
	BackoffLimit time.Duration
	Grace        time.Duration // for which a row that was changed or pushed is in flight
}

// Projection pushes changes.
type Projection struct {
	queue   db.VectorQueue
	vectors Vectors
	set     Settings
	now     func() time.Time
	log     *zap.Logger
	space   func() memory.Space // that serves; zero: one serves for ever, by every embedding there is
	lacking atomic.Bool
	queued  *queue
}

// New makes a projection of queue's memories into vectors.
func New(queue db.VectorQueue, vectors Vectors, set Settings, now func() time.Time, log *zap.Logger) *Projection {
	return &Projection{
		queue: queue, vectors: vectors, set: set, now: now, log: log, space: func() memory.Space { return memory.Space{} },
		queued: newQueue(),
	}
}

// Serves tells the projection in which space memories are pushed; the first
// push comes later.
func (p *Projection) Serves(space func() memory.Space) { p.space = space }

// Lacking reports whether a push since the last call met a memory without an
// embedding of the space that serves, and thus left it waiting.
func (p *Projection) Lacking() bool { return p.lacking.Swap(false) }

// Claimed is until when memories that are inserted now are claimed for PushNew.
func (p *Projection) Claimed() time.Time { return p.now().Add(p.set.Lease) }

// PushNew has memories pushed that were just inserted with a claim until Claimed:
// while Run runs, after it has returned. A failure is only logged: the
// reconciler finishes what is left.
func (p *Projection) PushNew(ctx context.Context, memories []memory.Memory) {
	tasks := make([]db.VectorTask, len(memories))
	for i, m := range memories {
		tasks[i] = db.VectorTask{Memory: m, First: true}
	}
	if !p.queued.add(born{tasks, p.now()}, nil) {
		p.push(ctx, tasks)
	}
}

// Push has memories claimed and pushed that were just changed, as PushNew does.
// Those that another pusher holds are left to it: it finds that they have changed.
func (p *Projection) Push(ctx context.Context, ids []string) {
	if len(ids) > 0 && !p.queued.add(born{}, ids) {
		p.pushChanged(ctx, ids)
	}
}

func (p *Projection) pushChanged(ctx context.Context, ids []string) {
	if len(ids) == 0 {
		return
	}
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	tasks, err := p.queue.ClaimVectors(ctx, ids, p.now(), p.Claimed())
	if err != nil {
		p.log.Warn("the reconciler will push: changes could not be claimed", zap.Int("memories", len(ids)), zap.Error(err))
		return
	}
	p.push(ctx, tasks)
}

// Run pushes what is queued and looks for due rows until the context ends. It
// returns when everything that is queued has been pushed.
func (p *Projection) Run(ctx context.Context) {
	p.queued.set(true)
	var queued sync.WaitGroup
	queued.Go(func() { p.pushQueued(ctx) })
	defer queued.Wait()
	ticker := time.NewTicker(p.set.Interval)
	defer ticker.Stop()
	for {
		for p.reconcile(ctx) && ctx.Err() == nil {
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// reconcile pushes one batch; more is true when it went well and was full.
func (p *Projection) reconcile(ctx context.Context) (more bool) {
	now := p.now()
	tasks, err := p.queue.ClaimDueVectors(ctx, now, now.Add(p.set.Lease), p.set.Batch)
	if err != nil {
		if ctx.Err() == nil {
			p.log.Warn("due pushes could not be claimed", zap.Error(err))
		}
		return false
	}
	return p.push(ctx, tasks) && len(tasks) == p.set.Batch
}

// bounded outlives the request, but not the claim.
func (p *Projection) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), p.set.Lease/2)
}
