package ingest

import (
	"context"
	"slices"

	"hippocampus/internal/memory"
)

// Forgotten is what became of one of the ids that ForgetAll was given.
type Forgotten struct {
	ID     string
	Memory memory.Memory // without embedding
	Err    error
}

// forgetBatch is how many memories one transaction forgets: few enough for the
// user's other writers to wait only briefly.
const forgetBatch = 100

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
func (s *Service) ForgetAll(ctx context.Context, appID string, ids []string) []Forgotten {
	results := map[string]Forgotten{}
	owned := map[memory.Owner][]string{}
	var owners []memory.Owner // in the order of the ids
	for _, id := range ids {
		if _, repeated := results[id]; repeated {
			continue
		}
		m, err := s.Records.Memory(ctx, appID, id)
		if results[id] = (Forgotten{Err: err}); err != nil {
			continue
		}
		if owned[m.Owner] == nil {
			owners = append(owners, m.Owner)
		}
		owned[m.Owner] = append(owned[m.Owner], id)
	}
	for _, owner := range owners {
		for part := range slices.Chunk(owned[owner], forgetBatch) {
			edited, err := s.editOwned(ctx, owner, part, memory.EventForgotten, forget)
			if err == nil {
				err = memory.Errorf(memory.KindNotFound, "the memory was purged in the meantime")
			}
			for _, id := range part {
				results[id] = Forgotten{Err: err}
			}
			for _, m := range edited {
				results[m.ID] = Forgotten{Memory: m}
			}
		}
	}
	all := make([]Forgotten, len(ids))
	for i, id := range ids {
		all[i] = results[id]
		all[i].ID = id
	}
	return all
}
