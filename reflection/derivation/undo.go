package derivation

import (
	"cmp"
	"context"
	"slices"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Undo forgets a reflection or summary of the app and makes its consolidated sources active again, as if just accessed,
// and embedded again if the embedding model has changed. It returns the sources oldest first. No later run condenses
// them again by itself. Undoing twice changes nothing. KindConflict: the memory was not derived from others.
func (s *Service) Undo(ctx context.Context, appID, id string) (
	derived memory.Memory, restored []memory.Memory, err error,
) {
	embedder := llm.Serving(s.embedder)
	found, ids, embeddings, err := s.prepare(ctx, embedder, appID, id)
	if err != nil {
		return memory.Memory{}, nil, err
	}
	var changes *history.Recorder
	err = s.records.InUser(ctx, found.Owner, func(ctx context.Context, tx db.UserTx) error {
		restored = []memory.Memory{}
		changes = history.NewRecorder(tx, "undo "+id, s.now())
		stored, err := tx.Memories(ctx, append([]string{id}, ids...))
		if err != nil {
			return err
		}
		missing := true
		for _, m := range stored {
			switch {
			case m.ID == id:
				derived, err = s.forget(ctx, changes, m)
				missing = false
			case m.Status == memory.Consolidated:
				if m, err = s.restore(ctx, embedder.Model(), changes, m, embeddings[m.ID]); err == nil {
					restored = append(restored, m)
				}
			}
			if err != nil {
				return err
			}
		}
		if missing {
			return memory.Errorf(memory.KindNotFound, "there is no memory %s", id)
		}
		if len(restored) > 0 {
			if err := s.resetState(ctx, tx, derived.Type); err != nil {
				return err
			}
		}
		return changes.Flush(ctx)
	})
	if err != nil {
		return memory.Memory{}, nil, err
	}
	s.pusher.Push(ctx, changes.Changed())
	slices.SortFunc(restored, func(a, b memory.Memory) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	derived.Embedding = nil
	for i := range restored {
		restored[i].Embedding = nil
	}
	return derived, restored, nil
}

// prepare reads a derived memory and its sources, and embeds the consolidated
// sources whose embedding is of another model.
func (s *Service) prepare(ctx context.Context, embedder llm.Embedder, appID, id string) (
	derived memory.Memory, ids []string, embeddings map[string][]float32, err error,
) {
	if derived, err = s.records.Memory(ctx, appID, id); err != nil {
		return derived, nil, nil, err
	}
	if !derived.Type.IsDerived() {
		return derived, nil, nil, memory.Errorf(memory.KindConflict,
			"memory %s is a %s: only a reflection or a summary can be undone", id, derived.Type)
	}
	all, err := s.records.Sources(ctx, derived.Owner, []string{id})
	if err != nil {
		return derived, nil, nil, err
	}
	if len(all[id]) == 0 {
		return derived, nil, nil, memory.Errorf(memory.KindConflict,
			"memory %s has no sources to restore: delete it instead", id)
	}
	var stale, texts []string
	for _, m := range all[id] {
		ids = append(ids, m.ID)
		if m.Status == memory.Consolidated && m.EmbeddingModel != embedder.Model() {
			stale, texts = append(stale, m.ID), append(texts, m.EmbeddedText())
		}
	}
	if len(texts) == 0 {
		return derived, ids, nil, nil
	}
	vectors, err := llm.EmbedDocuments(ctx, embedder, texts)
	if err != nil {
		return derived, nil, nil, err
	}
	embeddings = make(map[string][]float32, len(stale))
	for i, id := range stale {
		embeddings[id] = vectors[i]
	}
	return derived, ids, embeddings, nil
}

// forget makes the derived memory forgotten.
func (s *Service) forget(ctx context.Context, changes *history.Recorder, m memory.Memory) (memory.Memory, error) {
	before := m
	m.Status, m.SupersededBy = memory.Forgotten, ""
	difference := history.Diff(before, m)
	if difference == nil {
		return m, nil
	}
	changes.Note(m.ID, memory.EventForgotten, difference)
	err := changes.Update(ctx, before, &m)
	return m, err
}

// restore makes a source active again.
func (s *Service) restore(ctx context.Context, model string, changes *history.Recorder, m memory.Memory,
	embedding []float32) (memory.Memory, error) {
	before := m
	m.Status, m.LastAccessedAt = memory.Active, memory.Instant(s.now())
	if m.EmbeddingModel != model {
		if embedding == nil {
			return m, memory.Errorf(memory.KindConflict, "memory %s has changed since it was read: try again", m.ID)
		}
		m.Embed(embedding, model)
	}
	changes.Note(m.ID, memory.EventRestored, history.Diff(before, m))
	err := changes.Update(ctx, before, &m)
	return m, err
}

// resetState makes the next reflection or compression start from now. Otherwise
// it would condense the restored sources again.
func (s *Service) resetState(ctx context.Context, tx db.UserTx, t memory.Type) error {
	state, err := tx.State(ctx)
	if err != nil {
		return err
	}
	at := memory.Instant(s.now())
	if t == memory.TypeReflection {
		state.ReflectedAt = at
	} else {
		state.CompressedAt = at
	}
	return tx.SetState(ctx, state)
}
