package ingest

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// Compare finds out what new memories of one owner, which another service makes, mean for the active memories near
// them, except for those whose ids are in except: usually their sources. It asks the judge, so it must run before the
// owner's transaction. The drafts must be complete, with ids and embeddings of one space.
//
// The returned function applies the decisions. A draft with an id that Compare has not seen is compared only with
// what the transaction finds without the judge. Errors of Compare are those of the stores; a judge that fails keeps
// all memories.
func (s *Service) Compare(ctx context.Context, owner memory.Owner, drafts []memory.Memory, except []string) (
	history.Settle, error,
) {
	byIndex := make(map[int]memory.Memory, len(drafts))
	for i, draft := range drafts {
		byIndex[i] = draft
	}
	hoods, err := s.neighbours(ctx, owner, byIndex, except...)
	if err != nil {
		return nil, err
	}
	near := make(map[string]neighbourhood, len(drafts))
	for i, draft := range drafts {
		near[draft.ID] = hoods[i]
	}
	return func(ctx context.Context, tx db.UserTx, changes *history.Recorder, drafts []history.Draft) (
		[]memory.Memory, error,
	) {
		w := &writing{Recorder: changes, s: s, tx: tx, details: map[string]any{}, except: except}
		held := make([]memory.Memory, len(drafts))
		for i, draft := range drafts {
			w.details[draft.ID] = draft.Detail
			written, err := w.put(ctx, draft.Memory, near[draft.ID])
			if err != nil {
				return nil, err
			}
			held[i] = written.Memory
		}
		for i := range held {
			for _, m := range w.inserted {
				if m.ID == held[i].ID {
					held[i] = *m // a later draft may have changed it
				}
			}
		}
		return held, w.insert(ctx)
	}, nil
}
