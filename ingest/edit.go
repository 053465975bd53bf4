package ingest

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Change edits an active memory of the app. KindConflict: it is not active.
func (s *Service) Change(ctx context.Context, appID, id string, c Change) (memory.Memory, error) {
	by := llm.Serving(s.Embedder)
	var embedding []float32
	if c.Content != nil {
		vectors, err := by.Embed(ctx, llm.ForDocument, []string{*c.Content})
		if err != nil {
			return memory.Memory{}, err
		}
		embedding = vectors[0]
	}
	return s.edit(ctx, appID, id, memory.EventUpdated, func(m *memory.Memory) error {
		if m.Status != memory.Active {
			return memory.Errorf(memory.KindConflict, "memory %s is %s: restore it before changing it", id, m.Status)
		}
		if c.Content != nil && *c.Content != m.Content {
			m.Content, m.Lexemes = *c.Content, text.Join(text.Lexemes(*c.Content))
			m.Embedding, m.EmbeddingModel = embedding, by.Model()
		}
		assign(&m.Importance, c.Importance)
		assign(&m.Domain, c.Domain)
		assign(&m.Type, c.Type)
		assign(&m.Tags, c.Tags)
		assign(&m.Metadata, c.Metadata)
		assign(&m.Pinned, c.Pinned)
		return nil
	})
}

// Forget soft-deletes a memory of the app: it leaves recall and the vector
// store and can be restored until it is purged. Forgetting twice changes nothing.
func (s *Service) Forget(ctx context.Context, appID, id string) (memory.Memory, error) {
	return s.edit(ctx, appID, id, memory.EventForgotten, func(m *memory.Memory) error {
		m.Status, m.SupersededBy = memory.Forgotten, ""
		return nil
	})
}

// Restore makes a memory of the app active again, as if just accessed, and
// re-embeds it if the embedding model has changed. Restoring an active
// memory changes nothing.
func (s *Service) Restore(ctx context.Context, appID, id string) (memory.Memory, error) {
	m, err := s.Records.Memory(ctx, appID, id)
	if err != nil || m.Status == memory.Active {
		return m, err
	}
	by := llm.Serving(s.Embedder)
	var embedding []float32
	if m.EmbeddingModel != by.Model() {
		vectors, err := by.Embed(ctx, llm.ForDocument, []string{m.Content})
		if err != nil {
			return memory.Memory{}, err
		}
		embedding = vectors[0]
	}
	return s.edit(ctx, appID, id, memory.EventRestored, func(m *memory.Memory) error {
		if m.Status == memory.Active {
			return nil
		}
		m.Status, m.SupersededBy, m.LastAccessedAt = memory.Active, "", memory.Instant(s.Now())
		if embedding != nil {
			m.Embedding, m.EmbeddingModel = embedding, by.Model()
		}
		return nil
	})
}

// edit applies f to a memory under its owner's lock, and pushes the change.
func (s *Service) edit(
	ctx context.Context, appID, id string, kind memory.EventKind, f func(m *memory.Memory) error,
) (memory.Memory, error) {
	found, err := s.Records.Memory(ctx, appID, id)
	if err != nil {
		return memory.Memory{}, err
	}
	var changes *history.Recorder
	var m memory.Memory
	err = s.Records.InUser(ctx, found.Owner, func(ctx context.Context, tx db.UserTx) error {
		rows, err := tx.Memories(ctx, []string{id})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return memory.Errorf(memory.KindNotFound, "there is no memory %s", id)
		}
		m = rows[0]
		before := m
		if err := f(&m); err != nil {
			return err
		}
		changes = history.NewRecorder(tx, byAPI, s.Now())
		difference := history.Diff(before, m)
		if difference == nil {
			return nil
		}
		changes.Note(id, kind, difference)
		if err := changes.Update(ctx, before, &m); err != nil {
			return err
		}
		return changes.Flush(ctx)
	})
	if err != nil {
		return memory.Memory{}, err
	}
	s.Pusher.Push(ctx, changes.Changed())
	m.Embedding = nil
	return m, nil
}

// assign sets a field unless the change leaves it out.
func assign[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
