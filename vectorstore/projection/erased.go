package projection

import (
	"context"
	"maps"
	"slices"

	"hippocampus/db"
	"hippocampus/vectorstore"
)

// erased takes out of a copy again what was erased while it was copied.
//
// Whoever erases a user deletes the rows first, and then the records of every
// collection, those that are being filled too. A copy writes records first, and
// then sees whether their rows are still there. So one of the two finds the
// record, however they run.
type erased struct {
	records interface {
		Projected(ctx context.Context, after string, limit int) ([]db.Projected, error)
	}
	after string // id of the last record that was looked at
}

// withdraw deletes those records from the copy that have no rows any more.
// Records of later calls have greater ids.
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
