package projection

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Records is what Maintenance needs of the database.
type Records interface {
	Projected(ctx context.Context, after string, limit int) ([]db.Projected, error)
	Requeue(ctx context.Context, ids []string, at time.Time) (int, error)
	Embeddings(ctx context.Context, owner memory.Owner, model string, ids []string) (map[string][]float32, error)
	Copy(ctx context.Context, f func(ctx context.Context) error) error
}

// Maintenance verifies that the vector store equals the database, and repairs
// and rebuilds it:
//
//	rows, records, both in id order -> Verify -> report
//	report -> Repair -> requeued and pushed, or deleted
//	rows with embeddings -> Rebuild -> a new collection in the place of the old one
//	a store that lost its records -> Recover -> all rows requeued
//
// It reads one window of rows at a time.
type Maintenance struct {
	records Records
	vectors vectorstore.Store // not wrapped, so that it shows whether it is a vectorstore.Rebuilder or Ensurer
	push    *Projection
	now     func() time.Time
	log     *zap.Logger

	busy chan struct{} // holds a token while a repair or rebuild runs

	mu        sync.Mutex
	last      *Report
	recovered int  // losses of the vector store that have been recovered from
	started   bool // Start has succeeded
}

// NewMaintenance returns the maintenance of one projection.
func NewMaintenance(
	records Records, vectors vectorstore.Store, push *Projection, now func() time.Time, log *zap.Logger,
) *Maintenance {
	return &Maintenance{
		records: records, vectors: vectors, push: push, now: now, log: log, busy: make(chan struct{}, 1),
	}
}

// Report is the result of a verification.
type Report struct {
	At        time.Time `json:"at"`
	Checked   int       `json:"checked"`   // rows that were compared
	InFlight  int       `json:"in_flight"` // rows that are about to be pushed, or were within the grace
	Missing   Findings  `json:"missing"`   // active rows with an embedding and without a record
	Orphaned  Findings  `json:"orphaned"`  // records without an active row that has an embedding
	Different Findings  `json:"different"` // records that differ from their row
	Future    Findings  `json:"future"`    // rows that were changed, recalled or pushed at a time in the future
}

// Drift is the number of memories that differ between the stores.
func (r Report) Drift() int { return r.Missing.Count + r.Orphaned.Count + r.Different.Count }

// Progress implements the interface of that name.
func (r Report) Progress() (what string, memories int) { return "comparing", r.Checked + r.InFlight }

// Findings of one kind.
type Findings struct {
	Count int      `json:"count"`
	IDs   []string `json:"ids"` // the first 100, in order
}

func (f *Findings) add(id string) {
	f.Count++
	if len(f.IDs) < 100 {
		f.IDs = append(f.IDs, id)
	}
}

// kind of a finding.
type kind string

const (
	missing   kind = "missing"
	orphaned  kind = "orphaned"
	stray     kind = "stray" // orphaned, and there is no row at all
	different kind = "different"
)

// Verify compares the stores. A concurrent change is no drift: rows in flight are
// not compared, and every finding is checked twice.
func (m *Maintenance) Verify(ctx context.Context) (Report, error) {
	return m.verify(ctx, func(map[string]kind) error { return nil })
}

// verify calls f with the findings of each window that has some.
func (m *Maintenance) verify(ctx context.Context, f func(map[string]kind) error) (Report, error) {
	empty := Findings{IDs: []string{}}
	r := Report{At: m.now(), Missing: empty, Orphaned: empty, Different: empty, Future: empty}
	for after, more := "", true; more; {
		w, err := m.compareWindow(ctx, after)
		if err == nil && len(w.found) > 0 {
			err = m.recheck(ctx, after, &w)
		}
		if err != nil {
			return r, err
		}
		r.Checked, r.InFlight = r.Checked+w.checked, r.InFlight+w.inFlight
		for _, id := range w.future {
			r.Future.add(id)
		}
		for _, id := range slices.Sorted(maps.Keys(w.found)) {
			switch w.found[id] {
			case missing:
				r.Missing.add(id)
			case different:
				r.Different.add(id)
			default:
				r.Orphaned.add(id)
			}
		}
		if len(w.found) > 0 {
			if err := f(w.found); err != nil {
				return r, err
			}
		}
		jobs.NoteProgress(ctx, r)
		after, more = w.last, w.last != ""
	}
	m.mu.Lock()
	m.last = &r
	m.mu.Unlock()
	return r, nil
}

// Last is the latest verification of this process; ok is false before the first one.
func (m *Maintenance) Last() (r Report, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil {
		return Report{}, false
	}
	return *m.last, true
}

// windowSize is how many rows and records are in memory at a time: 16 MB of the
// longest contents of either.
const windowSize = 1000

// window is the comparison of both stores for a range of ids.
type window struct {
	last              string // the last id; empty: the range has no end
	checked, inFlight int
	future            []string
	found             map[string]kind
}

// recheck compares w a second time and keeps the findings of both comparisons. If
// rows were added in between, the range becomes shorter.
func (m *Maintenance) recheck(ctx context.Context, after string, w *window) error {
	second, err := m.compareWindow(ctx, after)
	if err != nil {
		return err
	}
	maps.DeleteFunc(second.found, func(id string, k kind) bool { return w.found[id] != k })
	if w.last == "" || second.last != "" && second.last < w.last {
		*w = second
		return nil
	}
	w.found = second.found
	maps.DeleteFunc(w.found, func(id string, _ kind) bool { return id > w.last })
	return nil
}

var errEndOfWindow = errors.New("end of the window")

// compareWindow compares one window that begins after an id. It reads rows first,
// so that a later push appears as a change in the second comparison.
func (m *Maintenance) compareWindow(ctx context.Context, after string) (window, error) {
	w := window{found: map[string]kind{}}
	rows, err := m.records.Projected(ctx, after, windowSize)
	if err != nil {
		return w, err
	}
	if len(rows) == windowSize {
		w.last = rows[len(rows)-1].Memory.ID
	}
	var records []vectorstore.Record
	err = m.vectors.Scan(ctx, after, windowSize, func(r vectorstore.Record) error {
		if w.last != "" && r.ID > w.last {
			return errEndOfWindow
		}
		records = append(records, r)
		return nil
	})
	if err != nil && !errors.Is(err, errEndOfWindow) {
		return w, err
	}
	if len(records) == windowSize {
		w.last = records[len(records)-1].ID
		rows = rows[:firstAfter(rows, w.last)]
	}
	m.compare(&w, rows, records)
	return w, nil
}

// firstAfter is the index of the first row with a greater id.
func firstAfter(rows []db.Projected, id string) int {
	compare := func(p db.Projected, id string) int { return cmp.Compare(p.Memory.ID, id) }
	i, found := slices.BinarySearchFunc(rows, id, compare)
	if found {
		i++
	}
	return i
}

// future is how far ahead a row's time must be for verify to report it: a clock was ahead by more than servers' clocks
// differ.
const future = 2 * time.Hour

// compare fills w from the rows and records of its range, both in id order.
func (m *Maintenance) compare(w *window, rows []db.Projected, records []vectorstore.Record) {
	settled := m.now().Add(-m.push.set.Grace)
	latest := m.now().Add(future)
	for _, row := range rows {
		want := row.Memory
		if want.UpdatedAt.After(latest) || want.LastAccessedAt.After(latest) || row.UpdatedAt.After(latest) {
			w.future = append(w.future, want.ID)
		}
		for len(records) > 0 && records[0].ID < want.ID {
			w.found[records[0].ID] = stray
			records = records[1:]
		}
		exists := len(records) > 0 && records[0].ID == want.ID
		var record vectorstore.Record
		for len(records) > 0 && records[0].ID == want.ID {
			record, records = records[0], records[1:]
		}
		if row.Vector == memory.VectorPending || row.Vector == memory.VectorRemoving || row.UpdatedAt.After(settled) {
			w.inFlight++
			continue
		}
		w.checked++
		switch has := want.HasVector(); {
		case has && !exists:
			w.found[want.ID] = missing
		case !has && exists:
			w.found[want.ID] = orphaned
		case has && !matches(record, want):
			w.found[want.ID] = different
		}
	}
	for _, r := range records {
		w.found[r.ID] = stray
	}
}

// matches reports whether a record equals the memory, apart from its embedding.
func matches(r vectorstore.Record, m memory.Memory) bool {
	return r.Owner == m.Owner && r.AgentID == m.AgentID && r.Domain == m.Domain && r.Type == m.Type &&
		r.Content == m.Content && r.CreatedAt.UnixMilli() == m.CreatedAt.UnixMilli()
}
