package ingest

import (
	"context"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Restore makes a memory of the app active again, as if just accessed, and
// re-embeds it if the embedding model has changed. Restoring an active
// memory changes nothing.
func (s *Service) Restore(ctx context.Context, appID, id string) (memory.Memory, error) {
	m, err := s.Records.Memory(ctx, appID, id)
	if err != nil || m.Status == memory.Active {
		return m, err
	}
	restore, err := s.restoring(ctx, []memory.Memory{m})
	if err != nil {
		return memory.Memory{}, err
	}
	return s.edit(ctx, appID, id, memory.EventRestored, restore)
}

// RestoreAll is Restore for many memories of the app, of any users. It returns a
// result for each id, in the same order; an error of one id does not affect the
// others, but memories that are re-embedded together fail together.
func (s *Service) RestoreAll(ctx context.Context, appID string, ids []string) []Edited {
	return s.editAll(ctx, appID, ids, memory.EventRestored, s.restoring)
}

// restoring returns an edit that makes one of the memories active. It re-embeds
// them first, if the embedding model has changed.
func (s *Service) restoring(ctx context.Context, memories []memory.Memory) (edit, error) {
	by := llm.Serving(s.Embedder)
	var ids, texts []string
	for _, m := range memories {
		if m.Status != memory.Active && m.EmbeddingModel != by.Model() {
			ids, texts = append(ids, m.ID), append(texts, m.EmbeddedText())
		}
	}
	embeddings := map[string][]float32{}
	if len(texts) > 0 {
		vectors, err := by.Embed(ctx, llm.ForDocument, texts)
		if err != nil {
			return nil, err
		}
		for i, id := range ids {
			embeddings[id] = vectors[i]
		}
	}
	return func(m *memory.Memory) error {
		if m.Status == memory.Active {
			return nil
		}
		m.Status = memory.Active
		m.SupersededBy = ""
		m.LastAccessedAt = memory.Instant(s.Now())
		if embedding := embeddings[m.ID]; embedding != nil {
			m.Embedding, m.EmbeddingModel = embedding, by.Model()
		}
		return nil
	}, nil
}
