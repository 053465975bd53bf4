package ingest

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// Compare finds out what new memories of one owner, which another service derives and stores, mean for the active
// memories near them, except for those whose ids are in except: usually their sources. It asks the judge, so it must
// run before the owner's transaction. The drafts must be complete, with ids and embeddings of one space.
//
// settle applies the decisions in the owner's transaction. held[i] is the memory that holds drafts[i]. If it has the id
// of the draft, the caller must record its creation with changes and insert it, with the content that it has now. If
// it has another id, that memory was active already, and has been changed if necessary. The caller must store the
// relations after it has inserted its memories, and push what changes has changed after the commit. Errors of Compare
// are those of the stores; a judge that fails keeps all memories.
func (s *Service) Compare(ctx context.Context, owner memory.Owner, drafts []memory.Memory, except []string) (
	settle func(ctx context.Context, tx db.UserTx, changes *history.Recorder) (
		held []memory.Memory, relations []memory.Relation, err error),
	err error,
) {
	byIndex := make(map[int]memory.Memory, len(drafts))
	for i, draft := range drafts {
		byIndex[i] = draft
	}
	near, err := s.neighbours(ctx, owner, byIndex, except...)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx db.UserTx, changes *history.Recorder) (
		held []memory.Memory, relations []memory.Relation, err error,
	) {
		w := &writing{Recorder: changes, s: s, tx: tx, unrecorded: true, except: except}
		for i, draft := range drafts {
			written, err := w.put(ctx, draft, near[i])
			if err != nil {
				return nil, nil, err
			}
			held = append(held, written.Memory)
		}
		for i := range held {
			for _, m := range w.inserted {
				if m.ID == held[i].ID {
					held[i] = *m // a later draft may have been merged into it
				}
			}
		}
		return held, w.relations, nil
	}, nil
}
