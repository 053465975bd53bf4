package projection

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// push brings claimed rows into the vector store and records how that went.
// It reports whether everything arrived.
//
// New records are inserted; what the store may hold already is replaced, that
// is deleted and inserted: Milvus' own upsert loses rows of collections with a
// partition key (milvus issue 30607).
func (p *Projection) push(ctx context.Context, tasks []db.VectorTask) bool {
	if len(tasks) == 0 {
		return true
	}
	ctx, cancel := p.bounded(ctx)
	defer cancel()

	space := p.space()
	var removed, first, changed, lacking []db.VectorTask
	for _, t := range tasks {
		if t.Into = space; !t.Remove && space.Model != "" {
			t.Memory.Embedding = t.Memory.EmbeddingIn(space)
		}
		switch {
		case t.Remove:
			removed = append(removed, t)
		case t.Memory.Embedding == nil && space.Model != "":
			lacking = append(lacking, t)
		case t.First:
			first = append(first, t)
		default:
			changed = append(changed, t)
		}
	}
	remove := func(part []db.VectorTask) error { return p.vectors.Delete(ctx, ids(part)) }
	insert := func(part []db.VectorTask) error { return p.vectors.Insert(ctx, records(part)) }
	replace := func(part []db.VectorTask) error { return p.vectors.Replace(ctx, records(part)) }
	if len(lacking) > 0 {
		p.lacking.Store(true)
		p.putOff(ctx, lacking)
	}
	done := p.each(ctx, removed, remove, remove)
	done = append(done, p.each(ctx, first, insert, replace)...)
	done = append(done, p.each(ctx, changed, replace, replace)...)
	if len(done) > 0 {
		if err := p.queue.FinishVectors(ctx, done, p.now()); err != nil {
			p.log.Warn("pushes will be repeated: they could not be recorded", zap.Int("memories", len(done)), zap.Error(err))
			return false
		}
	}
	return len(done) == len(tasks)
}

// each tries all tasks together, and one by one with again when the store
// refuses them for another reason than being away: one bad record must not
// hold up others. again must bear that the first try did half of its work.
// It returns the tasks that arrived, and makes the others due again.
func (p *Projection) each(ctx context.Context, tasks []db.VectorTask, call, again func([]db.VectorTask) error) (done []db.VectorTask) {
	if len(tasks) == 0 {
		return nil
	}
	err := call(tasks)
	if err == nil {
		return tasks
	}
	if len(tasks) > 1 && !memory.IsKind(err, memory.KindUnavailable) {
		for i := range tasks {
			done = append(done, p.each(ctx, tasks[i:i+1], again, again)...)
		}
		return done
	}
	p.log.Warn("the vector store did not take a push; it is tried again",
		zap.Int("memories", len(tasks)), zap.String("first", tasks[0].Memory.ID), zap.Error(err))
	p.putOff(ctx, tasks)
	return nil
}

// putOff makes tasks due again, later.
func (p *Projection) putOff(ctx context.Context, tasks []db.VectorTask) {
	retries := make([]db.VectorRetry, len(tasks))
	for i, t := range tasks {
		retries[i] = db.VectorRetry{ID: t.Memory.ID, Due: p.now().Add(p.backoff(t.Attempts))}
	}
	p.retry(ctx, retries)
}

// retry ends claims. A push may have used up its time: the record of its
// failure gets its own.
func (p *Projection) retry(ctx context.Context, retries []db.VectorRetry) {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	if err := p.queue.RetryVectors(ctx, retries); err != nil {
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
