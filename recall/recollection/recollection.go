// Package recollection makes faded memories active again that a recall has found:
//
//	memories -> rows that are faded still -> active, with an event "restored" of the cause "recollected" each
//	    -> outbox of the vector store, which takes them from there: the recall does not wait for it
package recollection

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Cause is the cause of the events.
const Cause = "recollected"

// Records is what recollection needs of the database.
type Records interface {
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
}

// Service makes memories active again; recall.Recollector describes it.
type Service struct {
	Records  Records
	Embedder llm.Embedder
	Now      func() time.Time
	OnDone   func(memories int) // is called with how many became active; nil: it is not called
}

// Recollect implements recall.Recollector. Memories whose embedding is of another model than the one that serves are
// embedded first.
func (s *Service) Recollect(ctx context.Context, owner memory.Owner, faded []memory.Memory) ([]memory.Memory, error) {
	by := llm.Serving(s.Embedder)
	embeddings, err := embed(ctx, by, faded)
	if err != nil {
		return nil, err
	}
	var active []memory.Memory
	done := 0
	err = s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		active = nil
		changes := history.NewRecorder(tx, Cause, s.Now())
		found, err := tx.Memories(ctx, memory.IDs(faded))
		if err != nil {
			return err
		}
		for _, m := range found {
			if m.Status == memory.Forgotten && m.Faded {
				before := m
				m.Status, m.Faded = memory.Active, false
				m.LastAccessedAt = memory.Instant(s.Now())
				if embedding := embeddings[m.ID]; embedding != nil {
					m.Embed(embedding, by.Model())
				}
				changes.Note(m.ID, memory.EventRestored, history.Diff(before, m))
				if err := changes.Update(ctx, before, &m); err != nil {
					return err
				}
			}
			if m.Status == memory.Active {
				m.Embedding = nil
				active = append(active, m)
			}
		}
		done = len(changes.Changed())
		return changes.Flush(ctx)
	})
	if err != nil {
		return nil, err
	}
	if done > 0 && s.OnDone != nil {
		s.OnDone(done)
	}
	return active, nil
}

// embed embeds the memories that another model has embedded, and returns the embeddings by id.
func embed(ctx context.Context, by llm.Embedder, memories []memory.Memory) (map[string][]float32, error) {
	var others, texts []string
	for _, m := range memories {
		if m.EmbeddingModel != by.Model() {
			others, texts = append(others, m.ID), append(texts, m.EmbeddedText())
		}
	}
	if len(texts) == 0 {
		return nil, nil
	}
	vectors, err := llm.EmbedDocuments(ctx, by, texts)
	if err != nil {
		return nil, err
	}
	embeddings := make(map[string][]float32, len(others))
	for i, id := range others {
		embeddings[id] = vectors[i]
	}
	return embeddings, nil
}
