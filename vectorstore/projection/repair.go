package projection

import (
	"context"
	"errors"
	"fmt"
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

// Repair verifies the stores, pushes or removes again the memory of each row with a finding, and deletes the records
// that have no row.
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

// Start makes the vector store serve, and requeues all rows if the store is empty
// because its file was deleted or its collection dropped while no server ran. It
// waits for the store at most as long as wait; 0: as long as the store's own timeouts
// allow. After an error, nothing is pushed until Run has made the store serve.
// Call it before the first push: until then the store stays empty, so that if this
// process crashes, the next one recovers.
func (m *Maintenance) Start(ctx context.Context, wait time.Duration) error {
	err := m.ensure(ctx, wait)
	if err == nil {
		err = m.recoverEmpty(ctx)
	}
	m.push.held.Store(err != nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.started = err == nil
	return err
}

// Run checks the vector store at each interval and repairs it, until the context
// ends. It logs what waiting cannot repair, such as a collection of another program.
func (m *Maintenance) Run(ctx context.Context) {
	ticker := time.NewTicker(m.push.set.Interval)
	defer ticker.Stop()
	logged := ""
	for {
		select {
		case <-ticker.C:
			err := m.check(ctx)
			if err != nil && !memory.IsKind(err, memory.KindUnavailable) && err.Error() != logged {
				logged = err.Error()
				m.log.Warn("the vector store does not serve; it is tried again", zap.Error(err))
			}
		case <-ctx.Done():
			return
		}
	}
}

func (m *Maintenance) check(ctx context.Context) error {
	m.mu.Lock()
	started := m.started
	m.mu.Unlock()
	if started {
		return m.ensure(ctx, 0)
	}
	err := m.Start(ctx, 0)
	if err == nil {
		m.log.Info("the vector store serves")
	}
	return err
}

// ensure makes a store that is missing, or was dropped or released, serve again, and
// requeues all rows if it has lost its records.
func (m *Maintenance) ensure(ctx context.Context, wait time.Duration) error {
	store, ok := m.vectors.(vectorstore.Ensurer)
	if !ok {
		return nil
	}
	limited, cancel := ctx, func() {}
	if wait > 0 {
		limited, cancel = context.WithTimeoutCause(ctx, wait, fmt.Errorf("it does not serve within %s", wait))
	}
	defer cancel()
	if err := m.vectors.Ping(limited); err != nil {
		// All rows must be due before the new collection exists. Otherwise a process
		// could take a collection that has only the latest writes for complete.
		if errors.Is(err, vectorstore.ErrGone) {
			if err := m.recoverFrom(ctx, store.Losses()+1); err != nil {
				return err
			}
		}
		if err := store.Ensure(limited); err != nil {
			return err
		}
	}
	return m.recoverFrom(ctx, store.Losses())
}

// recoverFrom requeues all rows, unless that was done for this number of losses.
func (m *Maintenance) recoverFrom(ctx context.Context, losses int) error {
	m.mu.Lock()
	done := m.recovered == losses
	m.mu.Unlock()
	if done {
		return nil
	}
	if err := m.requeueAll(ctx, losses); err != nil {
		return fmt.Errorf("requeue all memories, since the vector store lost its records: %w", err)
	}
	return nil
}

// recoverEmpty requeues all rows if the store is empty and ensure has not requeued
// them: a process that created the store may have crashed before it could do so.
func (m *Maintenance) recoverEmpty(ctx context.Context) error {
	losses := 0
	if store, ok := m.vectors.(vectorstore.Ensurer); ok {
		losses = store.Losses()
	}
	if losses > 0 {
		return nil
	}
	empty := true
	err := m.vectors.Scan(ctx, "", 1, func(vectorstore.Record) error { empty = false; return nil })
	if err != nil || !empty {
		return err
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
