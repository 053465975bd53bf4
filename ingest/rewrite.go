package ingest

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Rewrite changes memories of a user in the same transaction as the rows that they were made of, such as a file.
type Rewrite struct {
	Owner  memory.Owner
	Cause  string   // recorded with each event
	Add    []Write  // of the owner, and each a memory of its own; Dedup is ignored
	Forget []string // ids; memories that are not active stay as they are
	Edit   []string // ids of memories that OnEdit changes, in any status
	OnEdit func(m *memory.Memory)
	// Last runs at the end of the transaction, with the added memories in the order of Add. Its error rolls everything
	// back. It may run more than once.
	Last func(ctx context.Context, tx db.UserTx, added []memory.Memory) error
}

// Rewrite makes all changes in one transaction.
func (s *Service) Rewrite(ctx context.Context, r Rewrite) error {
	drafts := make([]memory.Memory, len(r.Add))
	texts := make([]string, len(r.Add))
	for i, w := range r.Add {
		if err := s.unimportant(w); err != nil {
			return err
		}
		drafts[i] = s.asked(w)
		drafts[i].Owner = r.Owner
		texts[i] = drafts[i].EmbeddedText()
	}
	if len(texts) > 0 {
		by := llm.Serving(s.Embedder)
		vectors, err := by.Embed(ctx, llm.ForDocument, texts)
		if err != nil {
			return err
		}
		for i := range drafts {
			drafts[i] = s.draft(drafts[i], vectors[i], by.Model())
		}
	}
	var w *writing
	err := s.Records.InUser(ctx, r.Owner, func(ctx context.Context, tx db.UserTx) error {
		w = s.writing(tx, r.Cause)
		added := make([]memory.Memory, len(drafts))
		for i, draft := range drafts {
			added[i] = w.add(draft).Memory
		}
		err := w.revise(ctx, r.Forget, memory.EventForgotten, func(m *memory.Memory) {
			if m.Status == memory.Active {
				_ = forget(m) // cannot fail
			}
		})
		if err != nil {
			return err
		}
		if err := w.revise(ctx, r.Edit, memory.EventUpdated, r.OnEdit); err != nil {
			return err
		}
		if err := w.flush(ctx); err != nil {
			return err
		}
		return r.Last(ctx, tx, added)
	})
	if err == nil {
		w.push(ctx, r.Owner)
	}
	return err
}

// revise applies f to those of the memories that exist.
func (w *writing) revise(ctx context.Context, ids []string, kind memory.EventKind, f func(m *memory.Memory)) error {
	if len(ids) == 0 {
		return nil
	}
	found, err := w.tx.Memories(ctx, ids)
	if err != nil {
		return err
	}
	for i := range found {
		m := &found[i]
		before := *m
		f(m)
		difference := history.Diff(before, *m)
		if difference == nil {
			continue
		}
		w.Note(m.ID, kind, difference)
		if err := w.Update(ctx, before, m); err != nil {
			return err
		}
	}
	return nil
}
