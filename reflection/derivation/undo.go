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

// Undo takes a reflection or summary of the app back: it is forgotten, and
// each of its sources that is consolidated is active again, as if just
// accessed, embedded anew where the embedding model has changed; they are
// returned oldest first. Undoing twice changes nothing. What was said before it
// is not condensed again by itself.
// KindConflict: the memory was not derived from others.
func (s *Service) Undo(ctx context.Context, appID, id string) (derived memory.Memory, restored []memory.Memory, err error) {
	by := llm.Serving(s.embedder)
	found, ids, embeddings, err := s.prepare(ctx, by, appID, id)
	if err != nil {
		return memory.Memory{}, nil, err
	}
	var changes *history.Recorder
	err = s.records.InUser(ctx, found.Owner, func(ctx context.Context, tx db.UserTx) error {
		restored = []memory.Memory{}
		changes = history.Record(tx, "undo "+id, s.now())
		stored, err := tx.Memories(ctx, append([]string{id}, ids...))
		if err != nil {
			return err
		}
		gone := true
		for _, m := range stored {
			switch {
			case m.ID == id:
				derived, err = s.forget(ctx, changes, m)
				gone = false
			case m.Status == memory.Consolidated:
				if m, err = s.restore(ctx, by.Model(), changes, m, embeddings[m.ID]); err == nil {
					restored = append(restored, m)
				}
			}
			if err != nil {
				return err
			}
		}
		if gone {
			return memory.Errorf(memory.KindNotFound, "there is no memory %s", id)
		}
		if len(restored) > 0 {
			if err := s.settle(ctx, tx, derived.Type); err != nil {
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

// prepare finds a derived memory and its sources, and embeds those of them
// that come back with an embedding of another model.
func (s *Service) prepare(ctx context.Context, by llm.Embedder, appID, id string) (derived memory.Memory, ids []string, embeddings map[string][]float32, err error) {
	if derived, err = s.records.Memory(ctx, appID, id); err != nil {
		return derived, nil, nil, err
	}
	if derived.Type != memory.TypeReflection && derived.Type != memory.TypeSummary {
		return derived, nil, nil, memory.Errorf(memory.KindConflict, "memory %s is a %s: only a reflection or a summary can be undone", id, derived.Type)
	}
	all, err := s.records.Sources(ctx, derived.Owner, []string{id})
	if err != nil {
		return derived, nil, nil, err
	}
	if len(all[id]) == 0 {
		return derived, nil, nil, memory.Errorf(memory.KindConflict, "memory %s has no sources to bring back: delete it instead", id)
	}
	var stale, texts []string
	for _, m := range all[id] {
		ids = append(ids, m.ID)
		if m.Status == memory.Consolidated && m.EmbeddingModel != by.Model() {
			stale, texts = append(stale, m.ID), append(texts, m.Content)
		}
	}
	if len(texts) == 0 {
		return derived, ids, nil, nil
	}
	vectors, err := by.Embed(ctx, llm.ForDocument, texts)
	if err != nil {
		return derived, nil, nil, err
	}
	embeddings = make(map[string][]float32, len(stale))
	for i, id := range stale {
		embeddings[id] = vectors[i]
	}
	return derived, ids, embeddings, nil
}

// forget takes the derived memory out of use.
func (s *Service) forget(ctx context.Context, changes *history.Recorder, m memory.Memory) (memory.Memory, error) {
	before := m
	m.Status, m.SupersededBy = memory.Forgotten, ""
	difference := history.Diff(before, m)
	if difference == nil {
		return m, nil
	}
	changes.Note(m.ID, memory.EventForgotten, difference)
	return m, changes.Update(ctx, before, &m)
}

// restore brings a source back.
func (s *Service) restore(ctx context.Context, model string, changes *history.Recorder, m memory.Memory, embedding []float32) (memory.Memory, error) {
	before := m
	m.Status, m.LastAccessedAt = memory.Active, memory.Instant(s.now())
	if m.EmbeddingModel != model {
		if embedding == nil {
			return m, memory.Errorf(memory.KindConflict, "memory %s has changed since it was read: try again", m.ID)
		}
		m.Embedding, m.EmbeddingModel = embedding, model
	}
	changes.Note(m.ID, memory.EventRestored, history.Diff(before, m))
	return m, changes.Update(ctx, before, &m)
}

// settle lets upkeep count anew from here: what has just come back would else
// be condensed again at the next occasion.
func (s *Service) settle(ctx context.Context, tx db.UserTx, t memory.Type) error {
	state, err := tx.State(ctx)
	if err != nil {
		return err
	}
	if at := memory.Instant(s.now()); t == memory.TypeReflection {
		state.ReflectedAt = at
	} else {
		state.CompressedAt = at
	}
	return tx.SetState(ctx, state)
}
