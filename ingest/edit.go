package ingest

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Change edits an active memory of the app. The new content of a fact is compared with the known memories as if it were
// said now; see write.Writer.Reword. KindConflict: the memory is not active.
func (s *Service) Change(ctx context.Context, appID, id string, c Change) (memory.Memory, error) {
	if c.Content != nil {
		if err := s.RefuseNever(ctx, appID, *c.Content); err != nil {
			return memory.Memory{}, err
		}
	}
	by := llm.Serving(s.Embedder)
	var before memory.Memory
	var embedding []float32
	if c.Content != nil || c.Type != nil {
		var err error
		if before, err = s.Records.Memory(ctx, appID, id); err != nil {
			return memory.Memory{}, err
		}
		after := before
		c.assignText(&after)
		if text := after.EmbeddedText(); text != before.EmbeddedText() {
			vectors, err := llm.EmbedDocuments(ctx, by, []string{text})
			if err != nil {
				return memory.Memory{}, err
			}
			embedding = vectors[0]
		}
	}
	end, err := s.endOfChange(ctx, appID, id, c)
	if err != nil {
		return memory.Memory{}, err
	}
	apply := func(m *memory.Memory) error {
		if m.Status != memory.Active {
			return memory.Errorf(memory.KindConflict, "memory %s is %s: restore it before changing it", id, m.Status)
		}
		said := m.Content
		c.assignText(m)
		c.outlive(m, said, end, s.Now())
		if embedding != nil {
			m.Embed(embedding, by.Model())
		}
		assign(&m.Importance, c.Importance)
		assign(&m.Domain, c.Domain)
		assign(&m.Tags, c.Tags)
		assign(&m.Metadata, c.Metadata)
		assign(&m.Pinned, c.Pinned)
		return nil
	}
	if c.Content != nil && before.Type != memory.TypeMessage {
		return s.Writer.Reword(ctx, before, byAPI, apply)
	}
	return s.edit(ctx, appID, id, memory.EventUpdated, apply)
}

// assignText sets the type and the content, and the lexemes by which the memory is searched.
func (c Change) assignText(m *memory.Memory) {
	assign(&m.Content, c.Content)
	assign(&m.Type, c.Type)
	if c.Content != nil || c.Type != nil {
		m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
	}
}

// edit applies f to a memory under its owner's lock, and pushes the change.
func (s *Service) edit(
	ctx context.Context, appID, id string, kind memory.EventKind, f edit,
) (memory.Memory, error) {
	found, err := s.Records.Memory(ctx, appID, id)
	if err != nil {
		return memory.Memory{}, err
	}
	edited, err := s.editOwned(ctx, found.Owner, []string{id}, kind, f)
	if err != nil {
		return memory.Memory{}, err
	}
	if len(edited) == 0 {
		return memory.Memory{}, memory.Errorf(memory.KindNotFound, "there is no memory %s", id)
	}
	return edited[0], nil
}

// editOwned applies f to the memories of an owner that exist, in one transaction, and pushes the changes.
func (s *Service) editOwned(
	ctx context.Context, owner memory.Owner, ids []string, kind memory.EventKind, f edit,
) (edited []memory.Memory, err error) {
	err = s.inUser(ctx, owner, func(ctx context.Context, tx db.UserTx, changes *history.Recorder) (err error) {
		edited, err = revise(ctx, tx, changes, ids, kind, f)
		return err
	})
	return edited, err
}

// inUser runs f in a transaction of the owner, records the changes as a client's, and pushes them.
func (s *Service) inUser(
	ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx, changes *history.Recorder) error,
) error {
	return s.inUserBy(ctx, owner, byAPI, f)
}

// inUserBy is inUser with a cause of the changes.
func (s *Service) inUserBy(
	ctx context.Context, owner memory.Owner, cause string,
	f func(ctx context.Context, tx db.UserTx, changes *history.Recorder) error,
) error {
	var changes *history.Recorder
	err := s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		changes = history.NewRecorder(tx, cause, s.Now())
		if err := f(ctx, tx, changes); err != nil {
			return err
		}
		return changes.Flush(ctx)
	})
	if err != nil {
		return err
	}
	s.Pusher.Push(ctx, changes.Changed())
	return nil
}

// revise applies f to those of the memories that exist, and returns them without embeddings.
func revise(ctx context.Context, tx db.UserTx, changes *history.Recorder, ids []string, kind memory.EventKind, f edit) (
	[]memory.Memory, error,
) {
	if len(ids) == 0 {
		return nil, nil
	}
	revised, err := tx.Memories(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range revised {
		m := &revised[i]
		before := *m
		if err := f(m); err != nil {
			return nil, err
		}
		if difference := history.Diff(before, *m); difference != nil {
			changes.Note(m.ID, kind, difference)
			if err := changes.Update(ctx, before, m); err != nil {
				return nil, err
			}
		}
		m.Embedding = nil
	}
	return revised, nil
}

// assign sets a field unless the change leaves it out.
func assign[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
