package ingest

import (
	"cmp"
	"context"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
)

// Rewrite changes memories of a user in the same transaction as the rows that they were made of, such as a file.
type Rewrite struct {
	Owner  memory.Owner
	Cause  string   // recorded with each event
	Add    []Write  // of the owner, and each a memory of its own, compared with nothing
	Forget []string // ids; memories that are not active stay as they are
	Edit   []string // ids of memories that OnEdit changes, in any status
	OnEdit func(m *memory.Memory)
	// Last runs at the end of the transaction, with the added memories in the order of Add. Its error rolls everything
	// back. It may run more than once.
	Last func(ctx context.Context, tx db.UserTx, added []memory.Memory) error
}

// Rewrite makes all changes in one transaction.
func (s *Service) Rewrite(ctx context.Context, r Rewrite) error {
	var add []memory.Memory
	for _, w := range r.Add {
		if err := cmp.Or(s.unimportant(w), s.RefuseNever(ctx, r.Owner.AppID, w.Content)); err != nil {
			return err
		}
		w.Owner = r.Owner
		add = append(add, s.asked(w))
	}
	add, err := s.complete(ctx, add)
	if err != nil {
		return err
	}
	_, err = s.Writer.Write(ctx, write.Batch{
		Owner: r.Owner, Cause: r.Cause, Drafts: draftsOf(add, write.Alone),
		Also: func(ctx context.Context, tx db.UserTx, changes *history.Recorder, written []write.Written) error {
			_, err := revise(ctx, tx, changes, r.Forget, memory.EventForgotten, func(m *memory.Memory) error {
				if m.Status != memory.Active {
					return nil
				}
				return forget(m)
			})
			if err != nil {
				return err
			}
			_, err = revise(ctx, tx, changes, r.Edit, memory.EventUpdated, func(m *memory.Memory) error {
				r.OnEdit(m)
				return nil
			})
			if err != nil {
				return err
			}
			added := make([]memory.Memory, len(written))
			for i, w := range written {
				added[i] = w.Memory
			}
			return r.Last(ctx, tx, added)
		},
	})
	return err
}
