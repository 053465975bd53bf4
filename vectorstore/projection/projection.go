// Package projection keeps the vector store equal to the database:
//
//	committed change -> queue -> push -> confirmed
//	                              | failed
//	                              v
//	reconciler: claim what is due -> push -> confirmed, or due again later
//
// No request waits for the queue, unless it is full: recall reads unconfirmed
// memories from the database. If a process crashes, the database lists what it
// had queued as due. A push is idempotent, one pusher at a time holds the claim
// of a memory, and every push is retried until it succeeds.
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

// Settings of the pushes; server/config states their defaults and ranges.
type Settings struct {
	Interval     time.Duration // between searches for due rows
	Batch        int           // rows claimed at once
	Lease        time.Duration // how long a claim lasts; a push may take half of it
	Backoff      time.Duration // after the first failed push; doubles with each further one
	BackoffLimit time.Duration
	Grace        time.Duration // how long a row that was changed or pushed counts as in flight
}

// Projection pushes changes.
type Projection struct {
	outbox     db.VectorQueue
	vectors    vectorstore.Writer
	set        Settings
	now        func() time.Time
	log        *zap.Logger
	space      func() memory.Space // the serving space; zero: every embedding is pushed
	unembedded atomic.Bool
	held       atomic.Bool // the vector store has not served yet, so that nothing is pushed
	queue      *queue
}

// New makes a projection of the outbox's memories into vectors.
func New(
	outbox db.VectorQueue, vectors vectorstore.Writer, set Settings, now func() time.Time, log *zap.Logger,
) *Projection {
	return &Projection{
		outbox: outbox, vectors: vectors, set: set, now: now, log: log, queue: newQueue(),
		space: func() memory.Space { return memory.Space{} },
	}
}

// SetSpace sets the function that returns the serving space. Call it before the
// first push.
func (p *Projection) SetSpace(space func() memory.Space) { p.space = space }

// SawUnembedded reports whether, since the last call, a push was postponed because
// a memory has no embedding of the serving space.
func (p *Projection) SawUnembedded() bool { return p.unembedded.Swap(false) }

// ClaimedUntil is the end of the claim with which new memories must be inserted
// before PushNew.
func (p *Projection) ClaimedUntil() time.Time { return p.now().Add(p.set.Lease) }

// PushNew pushes memories that were just inserted with a claim until
// ClaimedUntil. While Run runs, it returns before they are pushed. It logs a
// failure; the reconciler then pushes them later.
func (p *Projection) PushNew(ctx context.Context, memories []memory.Memory) {
	tasks := make([]db.VectorTask, 0, len(memories))
	for _, m := range memories {
		if m.HasVector() {
			tasks = append(tasks, db.VectorTask{Memory: m, Claim: 1})
		}
	}
	if len(tasks) > 0 && !p.queue.add(insertion{tasks: tasks, at: p.now()}, nil) {
		p.push(ctx, tasks)
	}
}

// Push claims and pushes memories that were just changed, as PushNew does. A
// memory that another pusher has claimed is left to that pusher, which will find
// that it has changed.
func (p *Projection) Push(ctx context.Context, ids []string) {
	if len(ids) > 0 && !p.queue.add(insertion{}, ids) {
		p.pushChanged(ctx, ids)
	}
}

func (p *Projection) pushChanged(ctx context.Context, ids []string) {
	if len(ids) == 0 || p.held.Load() { // the rows are due
		return
	}
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	tasks, err := p.outbox.ClaimVectors(ctx, ids, p.now(), p.ClaimedUntil())
	if err != nil {
		p.log.Warn("changes could not be claimed; the reconciler will push them",
			zap.Int("memories", len(ids)), zap.Error(err))
		return
	}
	p.push(ctx, tasks)
}

// Run pushes queued changes and due rows until the context ends. It returns when
// the queue is empty.
func (p *Projection) Run(ctx context.Context) {
	p.queue.setOpen(true)
	var pushing sync.WaitGroup
	pushing.Go(func() { p.pushQueued(ctx) })
	defer pushing.Wait()
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

// reconcile pushes one batch of due rows; more is true if it was full and
// succeeded.
func (p *Projection) reconcile(ctx context.Context) (more bool) {
	if p.held.Load() {
		return false
	}
	now := p.now()
	tasks, err := p.outbox.ClaimDueVectors(ctx, now, now.Add(p.set.Lease), p.set.Batch)
	if err != nil {
		if ctx.Err() == nil {
			p.log.Warn("due pushes could not be claimed", zap.Error(err))
		}
		return false
	}
	return p.pushApart(ctx, tasks) && len(tasks) == p.set.Batch
}

// bounded returns a context that outlives the request, but not the claim.
func (p *Projection) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), p.set.Lease/2)
}

// Pusher brings committed changes of memories to the vector store; Projection
// implements it.
type Pusher interface {
	// ClaimedUntil is the end of the claim with which the caller must insert new
	// memories before it calls PushNew.
	ClaimedUntil() time.Time
	// PushNew pushes memories that were inserted with a claim.
	PushNew(ctx context.Context, memories []memory.Memory)
	// Push pushes the memories with these ids as they are stored.
	Push(ctx context.Context, ids []string)
}

// NoopPusher is the pusher of a database that writes vectors in the transaction
// of their memories, so that nothing is left to push. If such a transaction leaves
// a memory to the outbox, the memory is due and the reconciler pushes it.
type NoopPusher struct{}

// ClaimedUntil is zero: the memories need no claim.
func (NoopPusher) ClaimedUntil() time.Time { return time.Time{} }

// PushNew does nothing.
func (NoopPusher) PushNew(context.Context, []memory.Memory) {}

// Push does nothing.
func (NoopPusher) Push(context.Context, []string) {}
