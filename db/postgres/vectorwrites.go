package postgres

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
)

// Vectors is a vector store in the same database, as a user's transaction
// writes to it:
//
//	begin -> Ready, the space that serves
//	memories inserted, changed -> synced or absent at once -> Queue -> commit
//
// Where it is not ready, another space is about to serve, or a memory has no
// embedding of the one that does, the outbox is left to bring the two together,
// as it does for a vector store elsewhere.
type Vectors interface {
	// Ready queues a query of one boolean: whether this transaction may write
	// vectors. What it answers holds until the transaction ends.
	Ready(batch *pgx.Batch) *pgx.QueuedQuery
	// Takes reports whether the memory, in its embedding, can be written to a space.
	Takes(space memory.Space, m memory.Memory) bool
	// Queue queues what leaves a space with these memories, which it takes, and
	// without the other ids, both in the order of ids.
	Queue(batch *pgx.Batch, space memory.Space, put []memory.Memory, gone []string)
}

// vectorWrites are those of one transaction.
type vectorWrites struct {
	to    Vectors // nil: the vector store is elsewhere
	ready bool
	space memory.Space             // that serves, and is to go on doing so; zero: there is none
	last  map[string]memory.Memory // what was written, by id
}

// begin queues what must be known from the beginning.
func (w *vectorWrites) begin(batch *pgx.Batch) {
	if w.to == nil {
		return
	}
	w.to.Ready(batch).QueryRow(func(row pgx.Row) error { return row.Scan(&w.ready) })
	batch.Queue(`SELECT model, dim FROM serving WHERE (model, dim) = (target_model, target_dim) AND former_model = ''`).
		QueryRow(func(row pgx.Row) error {
			if err := row.Scan(&w.space.Model, &w.space.Dim); !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			return nil
		})
}

// take reports whether the vector store will be as it should for m when the
// transaction ends.
func (w *vectorWrites) take(m memory.Memory) bool {
	return w.to != nil && w.ready && w.space != memory.Space{} && (m.Status != memory.Active || w.to.Takes(w.space, m))
}

// note has m, which is taken, written at the end; the latest of an id counts.
func (w *vectorWrites) note(m memory.Memory) {
	if w.last == nil {
		w.last = map[string]memory.Memory{}
	}
	w.last[m.ID] = m
}

// stand is how a new row stands towards the vector store, where it is said how
// it would stand towards one elsewhere.
func (w *vectorWrites) stand(m memory.Memory, elsewhere standing) standing {
	if elsewhere.state != memory.VectorPending || !w.take(m) {
		return elsewhere
	}
	w.note(m)
	return standing{state: memory.VectorSynced, due: elsewhere.due, claims: 1} // the next claim is not the first one
}

// end queues what was noted.
func (w *vectorWrites) end(batch *pgx.Batch) {
	if len(w.last) == 0 {
		return
	}
	var put []memory.Memory
	var gone []string
	for _, m := range slices.SortedFunc(maps.Values(w.last), func(a, b memory.Memory) int { return cmp.Compare(a.ID, b.ID) }) {
		if m.Status == memory.Active {
			put = append(put, m)
		} else {
			gone = append(gone, m.ID)
		}
	}
	w.to.Queue(batch, w.space, put, gone)
}

// refusedVectors is the error of a transaction whose end Postgres has refused,
// with vectors in it: their table may be gone.
type refusedVectors struct{ error }

func (r refusedVectors) Unwrap() error { return r.error }

// ended is the error of the end of the transaction.
func (w *vectorWrites) ended(err error) error {
	if len(w.last) > 0 && sqlState(err) != "" {
		return refusedVectors{err}
	}
	return err
}
