package proof

import (
	"context"
	"fmt"
	"slices"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// The invariants of the two stores at rest:
//
//	rows + records            -> unequal: the vector store shows exactly the active rows
//	row + its events          -> replay: the history leads from the creation to the row
//	all rows and events       -> unexplained: every inactive memory has a cause
//	before + after one change -> follows: nothing changes or disappears without an event

// chronicle reads the records of an owner's memories, by id, including those of
// the known ids whose memory has been purged since.
func chronicle(ctx context.Context, records db.Store, owner memory.Owner,
	known []string) (map[string]db.Record, error) {
	ids := slices.Clone(known)
	for page := (db.ExportPage{AppID: owner.AppID, UserID: owner.UserID, Limit: memory.MaxPage}); ; {
		rows, err := records.Export(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			ids = append(ids, r.Memory.ID)
			page.After = &db.ExportPlace{UserID: r.Memory.UserID, Position: db.Position{At: r.Memory.CreatedAt, ID: r.Memory.ID}}
		}
		if len(rows) < page.Limit {
			break
		}
	}
	slices.Sort(ids)
	return records.Recorded(ctx, owner, slices.Compact(ids))
}

// unequal describes a difference between the vector store and the active rows, or
// a row whose vector state is not yet confirmed; it returns "" if there is neither.
// The vector store is slow to read, so unequal reads it once the outbox is empty.
func unequal(ctx context.Context, records db.Store, vectors vectorstore.Store) (string, error) {
	if backlog, err := records.VectorBacklog(ctx, nil); err != nil || backlog.Pending+backlog.Removing > 0 {
		return fmt.Sprintf("the outbox is not empty: %+v", backlog), err
	}
	const page = 1000
	shown := map[string]vectorstore.Record{}
	for after, more := "", true; more; {
		n := 0
		err := vectors.Scan(ctx, after, page, func(r vectorstore.Record) error {
			if _, double := shown[r.ID]; double {
				return fmt.Errorf("the vector store holds %s twice", r.ID)
			}
			shown[r.ID] = r
			after = r.ID
			n++
			return nil
		})
		if err != nil {
			return "", err
		}
		more = n == page
	}
	for after, more := "", true; more; {
		rows, err := records.Projected(ctx, after, page)
		if err != nil {
			return "", err
		}
		for _, row := range rows {
			m := row.Memory
			r, held := shown[m.ID]
			delete(shown, m.ID)
			active := m.Status == memory.Active
			switch {
			case active != held:
				return fmt.Sprintf("%s is %s (%s), and in the vector store: %v", m.ID, m.Status, row.Vector, held), nil
			case active && row.Vector != memory.VectorSynced, !active && row.Vector != memory.VectorAbsent:
				return fmt.Sprintf("%s is %s, and its vector %s", m.ID, m.Status, row.Vector), nil
			case active && (r.Owner != m.Owner || r.AgentID != m.AgentID || r.Domain != m.Domain || r.Type != m.Type ||
				r.Content != m.Content || r.CreatedAt.UnixMilli() != m.CreatedAt.UnixMilli()):
				return fmt.Sprintf("the row %+v is shown as %+v", m, r), nil
			}
			after = m.ID
		}
		more = len(rows) == page
	}
	for id := range shown {
		return fmt.Sprintf("the vector store holds %s, which has no row", id), nil
	}
	return "", nil
}
