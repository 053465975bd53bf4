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
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Records is what upkeep needs of the database.
type Records interface {
	Projected(ctx context.Context, after string, limit int) ([]db.Projected, error)
	Requeue(ctx context.Context, ids []string, at time.Time) (int, error)
	Embeddings(ctx context.Context, owner memory.Owner, model string, ids []string) (map[string][]float32, error)
}

// Upkeep proves that the vector store shows what the database says, and makes
// it so:
//
//	rows, records, both in id order -> Verify -> report
//	report -> Repair -> requeued and pushed, or deleted
//	rows with embeddings -> Rebuild -> a fresh collection in the old one's place
//	a store that lost everything -> Mend -> all requeued
//
// It holds a window of rows at a time, however many there are.
type Upkeep struct {
	records Records
	vectors vectorstore.Store // as it is: what vectorstore.Rebuilder and Ensurer offer must be seen
	push    *Projection
	now     func() time.Time
	log     *zap.Logger

	busy chan struct{} // holds a token while a repair or rebuild runs

	mu     sync.Mutex
	last   *Report
	losses int // of the vector store that have been made good
}

// NewUpkeep makes the upkeep of one projection.
func NewUpkeep(records Records, vectors vectorstore.Store, push *Projection, now func() time.Time, log *zap.Logger) *Upkeep {
	return &Upkeep{records: records, vectors: vectors, push: push, now: now, log: log, busy: make(chan struct{}, 1)}
}

// Report is what a verification found.
type Report struct {
	At        time.Time `json:"at"`
	Checked   int       `json:"checked"`   // rows that were compared
	InFlight  int       `json:"in_flight"` // rows that are about to be pushed, or were within the grace
	Missing   Findings  `json:"missing"`   // active rows without a record
	Orphaned  Findings  `json:"orphaned"`  // records without an active row
	Different Findings  `json:"different"` // records that show something else than their row
}

// Drift is how many memories the stores disagree about.
func (r Report) Drift() int { return r.Missing.Count + r.Orphaned.Count + r.Different.Count }

// Findings of one kind.
type Findings struct {
	Count int      `json:"count"`
	IDs   []string `json:"ids"` // the first 100, in order
}

func (f *Findings) add(id string) {
	if f.Count++; len(f.IDs) < 100 {
		f.IDs = append(f.IDs, id)
	}
}

// kind of a finding.
type kind string

const (
	missing   kind = "missing"
	orphaned  kind = "orphaned"
	stray     kind = "stray" // orphaned, and without any row
	different kind = "different"
)

// Verify compares the stores. What changes meanwhile is no drift: rows in
// flight are left out, and every finding is looked at twice.
func (u *Upkeep) Verify(ctx context.Context) (Report, error) {
	return u.verify(ctx, func(map[string]kind) error { return nil })
}

// verify hands each window's findings to f.
func (u *Upkeep) verify(ctx context.Context, f func(map[string]kind) error) (Report, error) {
	r := Report{At: u.now(), Missing: Findings{IDs: []string{}}, Orphaned: Findings{IDs: []string{}}, Different: Findings{IDs: []string{}}}
	for after, more := "", true; more; {
		w, err := u.look(ctx, after)
		if err == nil && len(w.found) > 0 {
			err = u.lookAgain(ctx, after, &w)
		}
		if err != nil {
			return r, err
		}
		r.Checked, r.InFlight = r.Checked+w.checked, r.InFlight+w.inFlight
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
		after, more = w.upto, w.upto != ""
	}
	u.mu.Lock()
	u.last = &r
	u.mu.Unlock()
	return r, nil
}

// Last is the latest verification of this process; ok is false when there was none.
func (u *Upkeep) Last() (r Report, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		return Report{}, false
	}
	return *u.last, true
}

// windowSize is how many rows and records are held at a time: 16 MB of the
// longest contents of either.
const windowSize = 1000

// window is a range of ids that both stores were read for.
type window struct {
	upto              string // the last id; empty: the range has no end
	checked, inFlight int
	found             map[string]kind
}

// lookAgain looks at w a second time and keeps what is found in both. Where
// rows have come in between the range ends sooner.
func (u *Upkeep) lookAgain(ctx context.Context, after string, w *window) error {
	again, err := u.look(ctx, after)
	if err != nil {
		return err
	}
	maps.DeleteFunc(again.found, func(id string, k kind) bool { return w.found[id] != k })
	if w.upto == "" || again.upto != "" && again.upto < w.upto {
		*w = again
		return nil
	}
	w.found = again.found
	maps.DeleteFunc(w.found, func(id string, _ kind) bool { return w.upto != "" && id > w.upto })
	return nil
}

var errEnough = errors.New("enough records")

// look compares one window that begins after an id. Rows are read first: what
// is pushed from then on shows as a change when it is looked at again.
func (u *Upkeep) look(ctx context.Context, after string) (window, error) {
	w := window{found: map[string]kind{}}
	rows, err := u.records.Projected(ctx, after, windowSize)
	if err != nil {
		return w, err
	}
	if len(rows) == windowSize {
		w.upto = rows[len(rows)-1].Memory.ID
	}
	var records []vectorstore.Record
	err = u.vectors.Scan(ctx, after, windowSize, func(r vectorstore.Record) error {
		if w.upto != "" && r.ID > w.upto {
			return errEnough
		}
		records = append(records, r)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return w, err
	}
	if len(records) == windowSize {
		w.upto = records[len(records)-1].ID
		rows = rows[:firstAfter(rows, w.upto)]
	}
	u.compare(&w, rows, records)
	return w, nil
}

// firstAfter is the index of the first row with a greater id.
func firstAfter(rows []db.Projected, id string) int {
	i, same := slices.BinarySearchFunc(rows, id, func(p db.Projected, id string) int { return cmp.Compare(p.Memory.ID, id) })
	if same {
		i++
	}
	return i
}

// compare fills w from the rows and records of its range, both in id order.
func (u *Upkeep) compare(w *window, rows []db.Projected, records []vectorstore.Record) {
	settled := u.now().Add(-u.push.set.Grace)
	for _, row := range rows {
		m := row.Memory
		for len(records) > 0 && records[0].ID < m.ID {
			w.found[records[0].ID] = stray
			records = records[1:]
		}
		shown := len(records) > 0 && records[0].ID == m.ID
		var record vectorstore.Record
		for len(records) > 0 && records[0].ID == m.ID {
			record, records = records[0], records[1:]
		}
		if row.Vector == memory.VectorPending || row.Vector == memory.VectorRemoving || row.UpdatedAt.After(settled) {
			w.inFlight++
			continue
		}
		w.checked++
		switch active := m.Status == memory.Active; {
		case active && !shown:
			w.found[m.ID] = missing
		case !active && shown:
			w.found[m.ID] = orphaned
		case active && !shows(record, m):
			w.found[m.ID] = different
		}
	}
	for _, r := range records {
		w.found[r.ID] = stray
	}
}

// shows reports whether a record shows the memory, its embedding aside.
func shows(r vectorstore.Record, m memory.Memory) bool {
	return r.Owner == m.Owner && r.AgentID == m.AgentID && r.Domain == m.Domain && r.Type == m.Type &&
		r.Content == m.Content && r.CreatedAt.UnixMilli() == m.CreatedAt.UnixMilli()
}
