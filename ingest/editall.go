package ingest

import (
	"context"
	"slices"

	"hippocampus/internal/memory"
)

// Edited is the result for one of the ids that were to be forgotten or restored.
type Edited struct {
	ID      string
	Memory  memory.Memory // without embedding
	Effects []Effect      // on other memories
	Facts   []FactEffect  // on timelines
	Log     []LogEffect   // on the log of conversations
	Err     error
}

// edit changes a memory in a transaction.
type edit func(m *memory.Memory) error

// editBatch is how many memories one transaction edits: few enough for the
// user's other writers to wait only briefly.
const editBatch = 100

// editAll edits memories of the app, each user's in batches. `together` edits the
// memories of a batch and returns a result for each that still exists. What comes
// after the first KindUnavailable is KindNotTried.
func (s *Service) editAll(
	ctx context.Context, appID string, ids []string,
	together func(ctx context.Context, owner memory.Owner, batch []memory.Memory) ([]Edited, error),
) []Edited {
	results := map[string]Edited{}
	owned := map[memory.Owner][]memory.Memory{}
	var owners []memory.Owner // in the order of the ids
	var stop stopping
	for _, id := range ids {
		if _, repeated := results[id]; repeated {
			continue
		}
		var m memory.Memory
		err := stop.unless(func() (err error) {
			m, err = s.Records.Memory(ctx, appID, id)
			return err
		})
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
			var edited []Edited
			err := stop.unless(func() (err error) {
				edited, err = together(ctx, owner, batch)
				return err
			})
			if err != nil {
				edited = nil // the results of a transaction that was rolled back
			} else {
				err = memory.Errorf(memory.KindNotFound, "the memory was purged in the meantime")
			}
			for _, m := range batch {
				results[m.ID] = Edited{Err: err}
			}
			for _, e := range edited {
				results[e.Memory.ID] = e
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
