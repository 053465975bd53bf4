package projection

import (
	"cmp"
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Rebuilt is what a rebuild did.
type Rebuilt struct {
	Copied   int      `json:"copied"`    // memories that were copied from the database
	Skipped  int      `json:"skipped"`   // active memories without an embedding of the space that serves
	CaughtUp int      `json:"caught_up"` // of those, memories that were pushed again because they changed meanwhile
	After    Repaired `json:"after"`     // the verification that followed
}

// Rebuild fills a fresh collection from the embeddings in the database and
// puts it in the old one's place, while writes and searches go on:
//
//	copy every active row -> copy what changed meanwhile -> requeue what changed
//	since then -> the store changes over -> requeue that again -> repair
//
// Writes keep to the old collection until the store changes over. Those that
// the copy could not see are requeued before, so that recall has them from the
// database as own writes when the store changes over, and after it, so that
// they reach the new collection. Clocks of replicas may differ by the grace.
func (u *Upkeep) Rebuild(ctx context.Context) (Rebuilt, error) {
	var done Rebuilt
	store, ok := u.vectors.(vectorstore.Rebuilder)
	if !ok {
		return done, memory.Errorf(memory.KindConflict, "this vector store cannot be rebuilt while it serves: stop the server, delete its data and start it again")
	}
	if err := u.begin(ctx, "rebuild"); err != nil {
		return done, err
	}
	defer u.end()

	since, err := u.fill(ctx, store, u.push.space(), &done)
	if err != nil {
		return done, err
	}
	if done.CaughtUp, err = u.requeue(ctx, changedSince(since)); err != nil {
		return done, err
	}
	u.pushDue(ctx)
	// Rows that were erased meanwhile are known to no copy.
	done.After, err = u.repair(ctx)
	return done, err
}

// Fill puts a fresh collection of a space, which need not serve, in the place
// of the one that is in store: with every active memory that has an embedding
// of it. Changes since the returned instant may be missing; they are requeued.
func (u *Upkeep) Fill(ctx context.Context, store vectorstore.Rebuilder, space memory.Space) (since time.Time, copied int, err error) {
	var done Rebuilt
	since, err = u.fill(ctx, store, space, &done)
	return since, done.Copied, err
}

// RequeueSince makes every row due that was changed or pushed since an instant.
func (u *Upkeep) RequeueSince(ctx context.Context, since time.Time) (int, error) {
	return u.requeue(ctx, changedSince(since))
}

func (u *Upkeep) fill(ctx context.Context, store vectorstore.Rebuilder, space memory.Space, done *Rebuilt) (since time.Time, err error) {
	err = store.Rebuild(ctx, func(ctx context.Context, into vectorstore.Writer) error {
		since = u.now().Add(-u.push.set.Grace)
		if err := u.copyAll(ctx, into, space, done); err != nil {
			return err
		}
		next := u.now().Add(-u.push.set.Grace)
		if err := u.copyChanged(ctx, into, space, changedSince(since)); err != nil {
			return err
		}
		since = next
		_, err := u.requeue(ctx, changedSince(since))
		return err
	})
	return since, err
}

// changedSince chooses the rows that are not known to be in a copy begun at an instant.
func changedSince(since time.Time) func(db.Projected) bool {
	return func(p db.Projected) bool { return !p.UpdatedAt.Before(since) }
}

// copyAll inserts every active row.
func (u *Upkeep) copyAll(ctx context.Context, into vectorstore.Writer, space memory.Space, done *Rebuilt) error {
	erased := &erased{records: u.records}
	return u.pages(ctx, active, func(rows []db.Projected) error {
		records, err := u.embedded(ctx, rows, space)
		if err != nil {
			return err
		}
		done.Copied += len(records)
		done.Skipped += strangers(rows, records, space)
		if err := into.Insert(ctx, records); err != nil {
			return err
		}
		return erased.withdraw(ctx, into, records)
	})
}

// strangers are how many of the rows have no embedding of the space. Others that
// have no record have stopped being active meanwhile.
func strangers(rows []db.Projected, records []vectorstore.Record, space memory.Space) (n int) {
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

// copyChanged brings the chosen rows up to date.
func (u *Upkeep) copyChanged(ctx context.Context, into vectorstore.Writer, space memory.Space, choose func(db.Projected) bool) error {
	erased := &erased{records: u.records}
	return u.pages(ctx, choose, func(rows []db.Projected) error {
		records, err := u.embedded(ctx, rows, space)
		if err != nil {
			return err
		}
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row.Memory.ID
		}
		if err := into.Delete(ctx, ids); err != nil {
			return err
		}
		if err := into.Replace(ctx, records); err != nil {
			return err
		}
		return erased.withdraw(ctx, into, records)
	})
}

// embedded are the records of those rows that are active and have an embedding
// of the space.
func (u *Upkeep) embedded(ctx context.Context, rows []db.Projected, space memory.Space) ([]vectorstore.Record, error) {
	type source struct {
		owner memory.Owner
		model string
	}
	ids := map[source][]string{}
	for _, row := range rows {
		from := source{row.Memory.Owner, cmp.Or(space.Model, row.Memory.EmbeddingModel)}
		ids[from] = append(ids[from], row.Memory.ID)
	}
	embeddings := make(map[string][]float32, len(rows))
	for from, list := range ids {
		found, err := u.records.Embeddings(ctx, from.owner, from.model, list)
		if err != nil {
			return nil, err
		}
		for id, embedding := range found {
			if space.Dim == 0 || len(embedding) == space.Dim {
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

// requeue makes the chosen rows due and says how many they were.
func (u *Upkeep) requeue(ctx context.Context, choose func(db.Projected) bool) (total int, err error) {
	err = u.pages(ctx, choose, func(rows []db.Projected) error {
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row.Memory.ID
		}
		n, err := u.records.Requeue(ctx, ids, u.now())
		total += n
		return err
	})
	return total, err
}

func active(p db.Projected) bool { return p.Memory.Status == memory.Active }

// pages hands the chosen rows to f, in id order, window by window.
func (u *Upkeep) pages(ctx context.Context, choose func(db.Projected) bool, f func([]db.Projected) error) error {
	for after := ""; ; {
		rows, err := u.records.Projected(ctx, after, windowSize)
		if err != nil {
			return err
		}
		chosen := make([]db.Projected, 0, len(rows))
		for _, row := range rows {
			if after = row.Memory.ID; choose(row) {
				chosen = append(chosen, row)
			}
		}
		if len(chosen) > 0 {
			if err := f(chosen); err != nil {
				return err
			}
		}
		if len(rows) < windowSize {
			return nil
		}
	}
}
