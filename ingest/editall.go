package ingest

import (
	"context"
	"slices"

	"hippocampus/internal/memory"
)

// Edited is what became of one of the ids that ForgetAll or RestoreAll was given.
type Edited struct {
	ID     string
	Memory memory.Memory // without embedding
	Err    error
}

// edit changes a memory in a transaction.
type edit func(m *memory.Memory) error

// editBatch is how many memories one transaction edits: few enough for the
// user's other writers to wait only briefly.
const editBatch = 100

// editAll edits memories of the app, each user's in batches. `prepare` gets the
// memories of a batch before its transaction begins and returns their edit.
func (s *Service) editAll(
	ctx context.Context, appID string, ids []string, kind memory.EventKind,
	prepare func(ctx context.Context, batch []memory.Memory) (edit, error),
) []Edited {
	results := map[string]Edited{}
	owned := map[memory.Owner][]memory.Memory{}
	var owners []memory.Owner // in the order of the ids
	for _, id := range ids {
		if _, repeated := results[id]; repeated {
			continue
		}
		m, err := s.Records.Memory(ctx, appID, id)
		results[id] = Edited{Err: err}
		if err != nil {
			continue
		}
		if owned[m.Owner] == nil {
			owners = append(owners, m.Owner)
		}
		owned[m.Owner] = append(owned[m.Owner], m)
	}
	for _, owner := range owners {
		for batch := range slices.Chunk(owned[owner], editBatch) {
			edited, err := s.editTogether(ctx, owner, batch, kind, prepare)
			if err == nil {
				err = memory.Errorf(memory.KindNotFound, "the memory was purged in the meantime")
			}
			for _, m := range batch {
				results[m.ID] = Edited{Err: err}
			}
			for _, m := range edited {
				results[m.ID] = Edited{Memory: m}
			}
		}
	}
	all := make([]Edited, len(ids))
	for i, id := range ids {
		all[i] = results[id]
		all[i].ID = id
	}
	return all
}

// editTogether edits those of an owner's memories that still exist, in one transaction.
func (s *Service) editTogether(
	ctx context.Context, owner memory.Owner, batch []memory.Memory, kind memory.EventKind,
	prepare func(ctx context.Context, batch []memory.Memory) (edit, error),
) ([]memory.Memory, error) {
	change, err := prepare(ctx, batch)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(batch))
	for i, m := range batch {
		ids[i] = m.ID
	}
	return s.editOwned(ctx, owner, ids, kind, change)
}
