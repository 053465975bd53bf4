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

// Repaired is the result of a repair.
type Repaired struct {
	Report
	Requeued int `json:"requeued"` // rows that were pushed again
	Deleted  int `json:"deleted"`  // records that had no row
}

// Repair verifies, pushes or removes every row that was found again, and deletes
// the records that have no row.
func (m *Maintenance) Repair(ctx context.Context) (Repaired, error) {
	if err := m.begin(ctx, "repair"); err != nil {
		return Repaired{}, err
	}
	defer m.end()
	return m.repair(ctx)
}

func (m *Maintenance) repair(ctx context.Context) (Repaired, error) {
	var done Repaired
	report, err := m.verify(ctx, func(found map[string]kind) error {
		var rows, strays []string
		for _, id := range slices.Sorted(maps.Keys(found)) {
			if found[id] == stray {
				strays = append(strays, id)
			} else {
				rows = append(rows, id)
			}
		}
		if len(strays) > 0 {
			if err := m.vectors.Delete(ctx, strays); err != nil {
				return err
			}
			done.Deleted += len(strays)
		}
		// Requeue includes strays, because an import may have added their rows in the meantime.
		n, err := m.records.Requeue(ctx, append(rows, strays...), m.now())
		done.Requeued += n
		return err
	})
	done.Report = report
	if err != nil {
		return done, err
	}
	m.pushDue(ctx)
	return done, nil
}

// pushDue pushes due rows until all are pushed or a push fails.
func (m *Maintenance) pushDue(ctx context.Context) {
	for ctx.Err() == nil && m.push.reconcile(ctx) {
	}
}

// begin waits until no other repair or rebuild of this process runs.
func (m *Maintenance) begin(ctx context.Context, what string) error {
	select {
	case m.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return memory.Errorf(memory.KindUnavailable, "%s the vectors: waiting for another repair or rebuild to end: %w",
			what, context.Cause(ctx))
	}
}

func (m *Maintenance) end() { <-m.busy }

// Run checks the vector store at each interval and repairs it, until the context
// ends.
func (m *Maintenance) Run(ctx context.Context) {
	ticker := time.NewTicker(m.push.set.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.ensure(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// ensure makes a store that was dropped or released serve again, and requeues
// all rows if it has lost its records.
func (m *Maintenance) ensure(ctx context.Context) {
	store, ok := m.vectors.(vectorstore.Ensurer)
	if !ok {
		return
	}
	if err := m.vectors.Ping(ctx); err != nil {
		// All rows must be due before the new collection exists. Otherwise a process
		// could take a collection that has only the latest writes for complete.
		if errors.Is(err, vectorstore.ErrGone) && !m.recoverFrom(ctx, store.Losses()+1) {
			return
		}
		if err := store.Ensure(ctx); err != nil {
			return // the store is unavailable: the next interval tries again
		}
	}
	m.recoverFrom(ctx, store.Losses())
}

// recoverFrom requeues all rows, unless that was done for this number of losses.
// It reports whether that succeeded.
func (m *Maintenance) recoverFrom(ctx context.Context, losses int) bool {
	m.mu.Lock()
	done := m.recovered == losses
	m.mu.Unlock()
	if done {
		return true
	}
	err := m.requeueAll(ctx, losses)
	if err != nil && ctx.Err() == nil {
		m.log.Warn("the vector store lost its records, and not all could be requeued; it is tried again", zap.Error(err))
	}
	return err == nil
}

// Recover requeues all rows if the vector store is empty because its file was
// deleted or its collection dropped while no server ran. Call it before the first
// push: until then the store stays empty, so that if this process crashes, the
// next one recovers.
func (m *Maintenance) Recover(ctx context.Context) error {
	empty := true
	if err := m.vectors.Scan(ctx, "", 1, func(vectorstore.Record) error { empty = false; return nil }); err != nil {
		return err
	}
	losses := 0
	if store, ok := m.vectors.(vectorstore.Ensurer); ok {
		losses = store.Losses()
	}
	if !empty && losses == 0 {
		return nil
	}
	return m.requeueAll(ctx, losses)
}

// requeueAll makes every active row due and records that the store has recovered
// from this number of losses.
func (m *Maintenance) requeueAll(ctx context.Context, losses int) error {
	n, err := m.requeue(ctx, isActive)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.recovered = losses
	m.mu.Unlock()
	if n > 0 {
		m.log.Info("the vector store was empty: all memories are pushed again", zap.Int("memories", n))
	}
	return nil
}
