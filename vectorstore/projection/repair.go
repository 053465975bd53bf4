package projection

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Repaired is what a verification found and what was done about it.
type Repaired struct {
	Report
	Requeued int `json:"requeued"` // rows that are pushed again
	Deleted  int `json:"deleted"`  // records that had no row
}

// Repair verifies, has every row that was found pushed again or removed, and
// deletes the records that have no row.
func (u *Upkeep) Repair(ctx context.Context) (Repaired, error) {
	if err := u.begin(ctx, "repair"); err != nil {
		return Repaired{}, err
	}
	defer u.end()
	return u.repair(ctx)
}

func (u *Upkeep) repair(ctx context.Context) (Repaired, error) {
	var done Repaired
	report, err := u.verify(ctx, func(found map[string]kind) error {
		var rows, strays []string
		for _, id := range slices.Sorted(maps.Keys(found)) {
			if found[id] == stray {
				strays = append(strays, id)
			} else {
				rows = append(rows, id)
			}
		}
		if len(strays) > 0 {
			if err := u.vectors.Delete(ctx, strays); err != nil {
				return err
			}
			done.Deleted += len(strays)
		}
		// A stray that has got a row meanwhile, by an import, is pushed again.
		n, err := u.records.Requeue(ctx, append(rows, strays...), u.now())
		done.Requeued += n
		return err
	})
	done.Report = report
	if err != nil {
		return done, err
	}
	u.pushDue(ctx)
	return done, nil
}

// pushDue pushes what is due, as far as the vector store takes it.
func (u *Upkeep) pushDue(ctx context.Context) {
	for ctx.Err() == nil && u.push.reconcile(ctx) {
	}
}

// begin waits until no other repair or rebuild of this process runs.
func (u *Upkeep) begin(ctx context.Context, what string) error {
	select {
	case u.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return memory.Errorf(memory.KindUnavailable, "%s the vectors: waiting for another repair or rebuild to end: %w", what, context.Cause(ctx))
	}
}

func (u *Upkeep) end() { <-u.busy }

// Run mends the vector store at each interval, until the context ends.
func (u *Upkeep) Run(ctx context.Context) {
	ticker := time.NewTicker(u.push.set.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			u.mend(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// mend has a store that was dropped or released serve again, and pushes
// everything again to one that began empty.
func (u *Upkeep) mend(ctx context.Context) {
	mender, ok := u.vectors.(vectorstore.Ensurer)
	if !ok {
		return
	}
	if err := u.vectors.Ping(ctx); err != nil {
		// Everything is due before there is a new collection: nobody, in whatever
		// process, takes one for whole that shows only what was written since.
		if next := mender.Losses() + 1; errors.Is(err, vectorstore.ErrGone) && !u.madeGood(next) && !u.makeGood(ctx, next) {
			return
		}
		if err := mender.Ensure(ctx); err != nil {
			return // it is away: there is nothing to mend
		}
	}
	if losses := mender.Losses(); !u.madeGood(losses) {
		u.makeGood(ctx, losses)
	}
}

// madeGood reports whether so many losses have been made good, and no more.
func (u *Upkeep) madeGood(losses int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.losses == losses
}

func (u *Upkeep) makeGood(ctx context.Context, losses int) bool {
	err := u.requeueAll(ctx, losses)
	if err != nil && ctx.Err() == nil {
		u.log.Warn("the vector store lost everything, and not all of it could be requeued: it is tried again", zap.Error(err))
	}
	return err == nil
}

// Mend pushes everything again where the vector store is empty: its file was
// deleted, or its collection dropped, while no server ran. Call it before the
// first push: until then the store stays empty, so that a process which dies
// here is caught up with by the next one.
func (u *Upkeep) Mend(ctx context.Context) error {
	empty := true
	if err := u.vectors.Scan(ctx, "", 1, func(vectorstore.Record) error { empty = false; return nil }); err != nil {
		return err
	}
	losses := 0
	if mender, ok := u.vectors.(vectorstore.Ensurer); ok {
		losses = mender.Losses()
	}
	if !empty && losses == 0 {
		return nil
	}
	return u.requeueAll(ctx, losses)
}

// requeueAll makes every row due that the database takes for pushed, and notes
// that so many losses are made good.
func (u *Upkeep) requeueAll(ctx context.Context, losses int) error {
	n, err := u.requeue(ctx, active)
	if err != nil {
		return err
	}
	u.mu.Lock()
	u.losses = losses
	u.mu.Unlock()
	if n > 0 {
		u.log.Info("the vector store was empty: everything is pushed again", zap.Int("memories", n))
	}
	return nil
}
