package reembed

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// embedAll embeds, in one pass, the memories without an embedding of the space,
// and returns how many are left. If requeue is set, it makes each due for a push.
func (r *run) embedAll(ctx context.Context, space memory.Space, requeue bool) (left int, err error) {
	pair, err := r.pair(ctx, space)
	if err != nil {
		return 0, err
	}
	r.done.Failed = 0
	for after := ""; ; {
		page, err := r.Records.Unembedded(ctx, space, after, r.set.Page)
		if err != nil {
			return 0, err
		}
		if len(page) == 0 {
			break
		}
		after = page[len(page)-1].ID
		if err := r.embed(ctx, pair, page, requeue); err != nil {
			return 0, err
		}
		if r.isOver() {
			return 0, errSliceOver
		}
	}
	left, err = r.Records.CountUnembedded(ctx, space)
	r.mu.Lock()
	r.progress.Remaining = left
	r.mu.Unlock()
	return left, err
}

// embed embeds memories and stores the embeddings. It waits while the embedder is unavailable, and leaves out memories
// that the embedder refuses.
func (r *run) embed(ctx context.Context, pair *Pair, memories []memory.Memory, requeue bool) error {
	texts := make([]string, len(memories))
	for i, m := range memories {
		texts[i] = m.EmbeddedText()
	}
	for wait := r.set.Backoff; ; wait = min(2*wait, r.set.BackoffLimit) {
		vectors, err := pair.Embedder.Embed(ctx, llm.ForDocument, texts)
		var unavailable *memory.Error
		var refused *llm.RefusedTexts
		switch {
		case err == nil:
			r.done.Note = ""
			return r.store(ctx, pair.Space, memories, vectors, requeue)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &refused):
			r.done.Note = ""
			memories, vectors = r.withoutRefused(memories, vectors, err)
			return r.store(ctx, pair.Space, memories, vectors, requeue)
		case memory.IsKind(err, memory.KindUnavailable):
			if r.done.Note == "" {
				r.Log.Warn("re-embedding waits for the embedder", zap.String("model", pair.Space.Model), zap.Error(err))
			}
			r.done.Note = err.Error()
			if errors.As(err, &unavailable) {
				wait = max(wait, min(unavailable.RetryAfter, r.set.BackoffLimit))
			}
			if err := r.wait(ctx, wait); err != nil {
				return err
			}
		case len(memories) > 1: // the answer cannot be used; the answer to a single text may be usable
			for i := range memories {
				if err := r.embed(ctx, pair, memories[i:i+1], requeue); err != nil {
					return err
				}
			}
			return nil
		default:
			_, _ = r.withoutRefused(memories, make([][]float32, len(memories)), err)
			return nil
		}
	}
}

// withoutRefused leaves out memories without a vector.
func (r *run) withoutRefused(memories []memory.Memory, vectors [][]float32, why error) (
	accepted []memory.Memory, of [][]float32,
) {
	for i, m := range memories {
		if vectors[i] != nil {
			accepted, of = append(accepted, m), append(of, vectors[i])
			continue
		}
		r.done.Failed++
		r.Log.Warn("a memory could not be re-embedded; only its words find it",
			zap.String("memory", m.ID), zap.Error(why))
	}
	return accepted, of
}

func (r *run) store(
	ctx context.Context, space memory.Space, memories []memory.Memory, vectors [][]float32, requeue bool,
) error {
	embeddings, ids := make([]db.Reembedding, len(memories)), make([]string, len(memories))
	for i, m := range memories {
		embeddings[i] = db.Reembedding{ID: m.ID, Revision: m.Revision, Embedding: vectors[i]}
		ids[i] = m.ID
	}
	if err := r.Records.Reembed(ctx, space, embeddings); err != nil {
		return err
	}
	r.done.Embedded += len(memories)
	if !requeue {
		return nil
	}
	if err := r.settle(ctx, space); err != nil { // a memory without an embedding is not pushed
		return err
	}
	_, err := r.Records.Requeue(ctx, ids, r.Now())
	return err
}

// settle puts the new embeddings of the serving space into use.
func (r *run) settle(ctx context.Context, serving memory.Space) error {
	for {
		if n, err := r.Records.SettleEmbeddings(ctx, serving, r.set.Page); err != nil || n == 0 {
			return err
		}
	}
}
