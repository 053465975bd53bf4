package projection

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
	"hippocampus/vectorstore"
)

// pushApart is push in a trace of its own, since the tasks may be those of several requests and turns.
func (p *Projection) pushApart(ctx context.Context, tasks []db.VectorTask) bool {
	if len(tasks) == 0 {
		return true
	}
	ctx, span := tracing.Root(ctx, "push", trace.SpanContext{})
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(attribute.Int("hippocampus.push.memories", len(tasks)))
	}
	return p.push(ctx, tasks)
}

// push writes claimed rows to the vector store and records the outcome. It
// reports whether all of them were written.
//
// It inserts new records. It replaces records that the store may already have,
// by deleting and inserting them, since Milvus' upsert loses rows of collections
// with a partition key (milvus issue 30607).
func (p *Projection) push(ctx context.Context, tasks []db.VectorTask) bool {
	if len(tasks) == 0 {
		return true
	}
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	if p.held.Load() {
		p.release(ctx, tasks)
		return false
	}

	space := p.space()
	var removed, first, changed, unembedded []db.VectorTask
	for _, t := range tasks {
		if t.Into = space; !t.Remove && space.Model != "" {
			t.Memory.Embedding = t.Memory.EmbeddingIn(space)
		}
		switch {
		case t.Remove:
			removed = append(removed, t)
		case t.Memory.Embedding == nil && space.Model != "":
			unembedded = append(unembedded, t)
		case t.Claim == 1:
			first = append(first, t)
		default:
			changed = append(changed, t)
		}
	}
	remove := func(part []db.VectorTask) error { return p.vectors.Delete(ctx, ids(part)) }
	insert := func(part []db.VectorTask) error { return p.vectors.Insert(ctx, records(part)) }
	replace := func(part []db.VectorTask) error { return p.vectors.Replace(ctx, records(part)) }
	if len(unembedded) > 0 {
		p.unembedded.Store(true)
		p.postpone(ctx, unembedded)
	}
	done := p.write(ctx, removed, remove, remove)
	done = append(done, p.write(ctx, first, insert, replace)...)
	done = append(done, p.write(ctx, changed, replace, replace)...)
	if len(done) > 0 {
		if err := p.outbox.FinishVectors(ctx, done, p.now()); err != nil {
			p.log.Warn("pushes could not be recorded and will be repeated",
				zap.Int("memories", len(done)), zap.Error(err))
			p.release(ctx, done)
			return false
		}
	}
	return len(done) == len(tasks)
}

// write calls f with all tasks. If the store is available but refuses them, it
// calls retry with each task, so that one bad record does not block the others.
// retry must succeed even if f did part of its work. write returns the tasks that
// succeeded and postpones the others.
func (p *Projection) write(
	ctx context.Context, tasks []db.VectorTask, f, retry func([]db.VectorTask) error,
) (done []db.VectorTask) {
	if len(tasks) == 0 {
		return nil
	}
	err := f(tasks)
	switch {
	case err == nil:
		return tasks
	case len(tasks) == 1 || memory.IsKind(err, memory.KindUnavailable):
		p.pushFailed(ctx, tasks, err)
		return nil
	}
	for task := range slices.Chunk(tasks, 1) {
		if err := retry(task); err != nil {
			p.pushFailed(ctx, task, err)
		} else {
			done = append(done, task...)
		}
	}
	return done
}

func (p *Projection) pushFailed(ctx context.Context, tasks []db.VectorTask, err error) {
	p.log.Warn("a push failed; it will be retried",
		zap.Int("memories", len(tasks)), zap.String("first", tasks[0].Memory.ID), zap.Error(err))
	p.postpone(ctx, tasks)
}

// postpone makes tasks due again after their backoff.
func (p *Projection) postpone(ctx context.Context, tasks []db.VectorTask) {
	retries := make([]db.VectorRetry, len(tasks))
	for i, t := range tasks {
		retries[i] = db.VectorRetry{ID: t.Memory.ID, Claim: t.Claim, Due: p.now().Add(p.backoff(t.Attempts))}
	}
	p.endClaims(ctx, retries)
}

// release makes tasks due at once.
func (p *Projection) release(ctx context.Context, tasks []db.VectorTask) {
	retries := make([]db.VectorRetry, len(tasks))
	for i, t := range tasks {
		retries[i] = db.VectorRetry{ID: t.Memory.ID, Claim: t.Claim, Due: p.now()}
	}
	p.endClaims(ctx, retries)
}

// endClaims ends claims and makes their rows due. It has its own timeout, since a failed push may have used up the
// timeout of the push.
func (p *Projection) endClaims(ctx context.Context, retries []db.VectorRetry) {
	if len(retries) == 0 {
		return
	}
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	if err := p.outbox.RetryVectors(ctx, retries); err != nil {
		p.log.Warn("failed pushes stay claimed until their claims end", zap.Error(err))
	}
}

// backoff doubles with every failed attempt, up to its limit.
func (p *Projection) backoff(attempts int) time.Duration {
	wait := p.set.Backoff << min(attempts, 20)
	return min(wait, p.set.BackoffLimit)
}

func ids(tasks []db.VectorTask) []string {
	list := make([]string, len(tasks))
	for i, t := range tasks {
		list[i] = t.Memory.ID
	}
	return list
}

func records(tasks []db.VectorTask) []vectorstore.Record {
	list := make([]vectorstore.Record, len(tasks))
	for i, t := range tasks {
		list[i] = vectorstore.RecordOf(t.Memory)
		list[i].Space = t.Into
	}
	return list
}
