package projection

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Rebuilt is the result of a rebuild.
type Rebuilt struct {
	Copied   int      `json:"copied"`    // memories that were copied from the database
	Skipped  int      `json:"skipped"`   // active memories without an embedding of the serving space
	CaughtUp int      `json:"caught_up"` // memories that changed during the copy and were pushed again
	After    Repaired `json:"after"`     // the repair that followed
}

// copyProgress is how far a copy has come.
type copyProgress struct {
	Copied  int `json:"copied"`
	Skipped int `json:"skipped"`
}

// Progress is what repairs and rebuilds note (jobs.NoteProgress): what is being done, and with how many memories so
// far.
type Progress interface {
	Progress() (what string, memories int)
}

// Progress implements the interface of that name.
func (c copyProgress) Progress() (what string, memories int) { return "copying", c.Copied + c.Skipped }

// Rebuild fills a new collection from the embeddings in the database and puts it
// in the place of the old one, while writes and searches continue:
//
//	copy active rows -> copy rows changed during the copy -> requeue rows changed
//	since then -> the store changes over -> requeue them again -> repair
//
// Until the store changes over, writes go to the old collection. The rows that
// the copy could not see are requeued twice: before the change-over, so that
// recall reads them from the database as own writes, and after it, so that they
// reach the new collection. Clocks of replicas may differ by the grace.
func (m *Maintenance) Rebuild(ctx context.Context) (Rebuilt, error) {
	var done Rebuilt
	store, ok := m.vectors.(vectorstore.Rebuilder)
	if !ok {
		return done, memory.Errorf(memory.KindConflict,
			"this vector store cannot be rebuilt while it serves: stop the server, delete its data and start it again")
	}
	if err := m.begin(ctx, "rebuild"); err != nil {
		return done, err
	}
	defer m.end()

	since, err := m.fill(ctx, store, m.push.space(), &done)
	if err != nil {
		return done, err
	}
	if done.CaughtUp, err = m.requeue(ctx, changedSince(since)); err != nil {
		return done, err
	}
	m.pushDue(ctx)
	// The repair removes records whose rows were erased during the rebuild.
	done.After, err = m.repair(ctx)
	return done, err
}

// Fill replaces the collection of a store by a new one with every active memory that has an embedding of the space. The
// space need not be the serving one. Changes since the returned instant may be missing; they are requeued.
func (m *Maintenance) Fill(
	ctx context.Context, store vectorstore.Rebuilder, space memory.Space,
) (since time.Time, copied int, err error) {
	var done Rebuilt
	since, err = m.fill(ctx, store, space, &done)
	return since, done.Copied, err
}

// RequeueSince makes every row due that was changed or pushed since an instant,
// and returns their number.
func (m *Maintenance) RequeueSince(ctx context.Context, since time.Time) (int, error) {
	return m.requeue(ctx, changedSince(since))
}

func (m *Maintenance) fill(
	ctx context.Context, store vectorstore.Rebuilder, space memory.Space, done *Rebuilt,
) (since time.Time, err error) {
	err = store.Rebuild(ctx, func(ctx context.Context, into vectorstore.Writer) error {
		since = m.now().Add(-m.push.set.Grace)
		if err := m.copyAll(ctx, into, space, done); err != nil {
			return err
		}
		next := m.now().Add(-m.push.set.Grace)
		if err := m.copyChanged(ctx, into, space, changedSince(since)); err != nil {
			return err
		}
		since = next
		_, err := m.requeue(ctx, changedSince(since))
		return err
	})
	return since, err
}

// changedSince selects the rows that a copy begun at an instant may not contain.
func changedSince(since time.Time) func(db.Projected) bool {
	return func(p db.Projected) bool { return !p.UpdatedAt.Before(since) }
}

// copyAll inserts every active row.
func (m *Maintenance) copyAll(ctx context.Context, into vectorstore.Writer, space memory.Space, done *Rebuilt) error {
	erased := &erased{records: m.records}
	return m.copyPages(ctx, isActive, func(ctx context.Context, rows []db.Projected) error {
		records, err := m.recordsOf(ctx, rows, space)
		if err != nil {
			return err
		}
		done.Copied += len(records)
		done.Skipped += countUnembedded(rows, records, space)
		jobs.NoteProgress(ctx, copyProgress{Copied: done.Copied, Skipped: done.Skipped})
		if err := into.Insert(ctx, records); err != nil {
			return err
		}
		return erased.withdraw(ctx, into, records)
	})
}

// countUnembedded counts the rows without an embedding of the space. Other rows
// without a record are no longer active.
func countUnembedded(rows []db.Projected, records []vectorstore.Record, space memory.Space) (n int) {
	copied := make(map[string]bool, len(records))
	for _, r := range records {
		copied[r.ID] = true
	}
	for _, row := range rows {
		if !copied[row.Memory.ID] && row.Memory.EmbeddingModel != cmp.Or(space.Model, row.Memory.EmbeddingModel) {
			n++
		}
	}
	return n
}

// copyChanged updates the records of the selected rows.
func (m *Maintenance) copyChanged(
	ctx context.Context, into vectorstore.Writer, space memory.Space, selected func(db.Projected) bool,
) error {
	erased := &erased{records: m.records}
	return m.copyPages(ctx, selected, func(ctx context.Context, rows []db.Projected) error {
		records, err := m.recordsOf(ctx, rows, space)
		if err != nil {
			return err
		}
		if err := into.Delete(ctx, rowIDs(rows)); err != nil {
			return err
		}
		if err := into.Replace(ctx, records); err != nil {
			return err
		}
		return erased.withdraw(ctx, into, records)
	})
}

// recordsOf returns the records of the rows that are active and have an embedding
// of the space.
func (m *Maintenance) recordsOf(
	ctx context.Context, rows []db.Projected, space memory.Space,
) ([]vectorstore.Record, error) {
	type source struct {
		owner memory.Owner
		model string
	}
	bySource := map[source][]string{}
	for _, row := range rows {
		from := source{row.Memory.Owner, cmp.Or(space.Model, row.Memory.EmbeddingModel)}
		bySource[from] = append(bySource[from], row.Memory.ID)
	}
	embeddings := make(map[string][]float32, len(rows))
	for from, ids := range bySource {
		found, err := m.records.Embeddings(ctx, from.owner, from.model, ids)
		if err != nil {
			return nil, err
		}
		for id, embedding := range found {
			if len(embedding) > 0 && (space.Dim == 0 || len(embedding) == space.Dim) {
				embeddings[id] = embedding
			}
		}
	}
	records := make([]vectorstore.Record, 0, len(embeddings))
	for _, row := range rows {
		if embedding, ok := embeddings[row.Memory.ID]; ok {
			row.Memory.Embedding = embedding
			record := vectorstore.RecordOf(row.Memory)
			record.Space = space
			records = append(records, record)
		}
	}
	return records, nil
}

// requeue makes the selected rows due and returns their number.
func (m *Maintenance) requeue(ctx context.Context, selected func(db.Projected) bool) (total int, err error) {
	err = m.pages(ctx, selected, func(rows []db.Projected) error {
		n, err := m.records.Requeue(ctx, rowIDs(rows), m.now())
		total += n
		return err
	})
	return total, err
}

func rowIDs(rows []db.Projected) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.Memory.ID
	}
	return ids
}

func isActive(p db.Projected) bool { return p.Memory.Status == memory.Active }

// pages calls f with the selected rows of each window, in id order.
func (m *Maintenance) pages(
	ctx context.Context, selected func(db.Projected) bool, f func([]db.Projected) error,
) error {
	for after, more := "", true; more; {
		var err error
		if after, more, err = m.page(ctx, after, selected, f); err != nil {
			return err
		}
	}
	return nil
}

// copyPages is pages for copies into another collection: erasures wait for each window.
func (m *Maintenance) copyPages(
	ctx context.Context, selected func(db.Projected) bool, f func(context.Context, []db.Projected) error,
) error {
	for after, more := "", true; more; {
		if err := m.records.Copy(ctx, func(ctx context.Context) (err error) {
			after, more, err = m.page(ctx, after, selected, func(rows []db.Projected) error { return f(ctx, rows) })
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// page calls f with the selected rows of the window after an id, and returns the last id of the window and whether
// there may be more.
func (m *Maintenance) page(
	ctx context.Context, after string, selected func(db.Projected) bool, f func([]db.Projected) error,
) (last string, more bool, err error) {
	rows, err := m.records.Projected(ctx, after, windowSize)
	if err != nil {
		return "", false, err
	}
	read := len(rows)
	if read > 0 {
		last = rows[read-1].Memory.ID
	}
	rows = slices.DeleteFunc(rows, func(p db.Projected) bool { return !selected(p) })
	if len(rows) > 0 {
		err = f(rows)
	}
	return last, read == windowSize, err
}
