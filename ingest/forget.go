package ingest

import (
	"context"

	"hippocampus/internal/memory"
)

// Forget soft-deletes a memory of the app: it leaves recall and the vector
// store and can be restored until it is purged. Forgetting twice changes nothing.
func (s *Service) Forget(ctx context.Context, appID, id string) (memory.Memory, error) {
	return s.edit(ctx, appID, id, memory.EventForgotten, forget)
}

func forget(m *memory.Memory) error {
	m.Status, m.SupersededBy = memory.Forgotten, ""
	return nil
}

// ForgetAll is Forget for many memories of the app, of any users. It returns a
// result for each id, in the same order; an error of one id does not affect the others.
func (s *Service) ForgetAll(ctx context.Context, appID string, ids []string) []Edited {
	return s.editAll(ctx, appID, ids, memory.EventForgotten,
		func(context.Context, []memory.Memory) (edit, error) { return forget, nil })
}
