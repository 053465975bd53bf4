package projection

import (
	"context"
	"maps"
	"slices"

	"hippocampus/db"
	"hippocampus/vectorstore"
)

// erased removes records from a copy whose rows were erased during the copy.
//
// An erasure deletes the rows first, and then the records of every collection,
// including those that are being filled. A copy writes records first, and then
// checks that their rows still exist. Therefore one of the two deletes the record
// in any order of events.
type erased struct {
	records interface {
		Projected(ctx context.Context, after string, limit int) ([]db.Projected, error)
	}
	after string // id of the last record that was checked
}

// withdraw deletes those records from the copy whose rows no longer exist. The
// records of each call must have greater ids than those of earlier calls.
func (e *erased) withdraw(ctx context.Context, into vectorstore.Writer, records []vectorstore.Record) error {
	gone, last := make(map[string]bool, len(records)), ""
	for _, r := range records {
		gone[r.ID] = true
		last = max(last, r.ID)
	}
	for e.after < last {
		rows, err := e.records.Projected(ctx, e.after, windowSize)
		if err != nil {
			return err
		}
		for _, row := range rows {
			delete(gone, row.Memory.ID)
		}
		if len(rows) < windowSize || rows[len(rows)-1].Memory.ID > last {
			e.after = last
		} else {
			e.after = rows[len(rows)-1].Memory.ID
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return into.Delete(ctx, slices.Collect(maps.Keys(gone)))
}
