package postgres

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// Vectors is a vector store in the same database, to which a user's transaction
// writes:
//
//	begin -> Ready, the space that serves
//	memories inserted, changed -> synced or absent at once -> Queue -> commit
//
// If it is not ready, another space is about to serve, or a memory has no embedding
// of the serving space, the memory goes to the outbox, as for a vector store elsewhere.
type Vectors interface {
	// Ready queues a query of one boolean: whether this transaction may write
	// vectors. The answer holds until the transaction ends.
	Ready(batch *pgx.Batch) *pgx.QueuedQuery
	// Takes reports whether the memory with its embedding can be written to a space.
	Takes(space memory.Space, m memory.Memory) bool
	// Queue queues the writes to a space that put memories, which the space takes, and delete the ids in gone. Both are in
	// the order of ids.
	Queue(batch *pgx.Batch, space memory.Space, put []memory.Memory, gone []string)
}

// vectorWrites are the vector writes of one transaction.
type vectorWrites struct {
	to    Vectors // nil: the vector store is elsewhere
	ready bool
	space memory.Space             // that serves and remains the target; zero: no such space
	last  map[string]memory.Memory // what the transaction wrote, by id
}

// begin queues the queries that the other methods need.
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

// takes reports whether the transaction can bring the vector store up to date for m.
func (w *vectorWrites) takes(m memory.Memory) bool {
	return w.to != nil && w.ready && w.space != memory.Space{} && (!m.HasVector() || w.to.Takes(w.space, m))
}

// note makes end write m, which the space takes. Of several with one id, the last one is written.
func (w *vectorWrites) note(m memory.Memory) {
	if w.last == nil {
		w.last = map[string]memory.Memory{}
	}
	w.last[m.ID] = m
}

// project returns the desired vector state of a new row, given the one for a vector
// store elsewhere.
func (w *vectorWrites) project(m memory.Memory, elsewhere sqlstore.Projection) sqlstore.Projection {
	if elsewhere.State != memory.VectorPending || !w.takes(m) {
		return elsewhere
	}
	w.note(m)
	// One claim counts, so that the next claim is not the first.
	return sqlstore.Projection{State: memory.VectorSynced, Due: elsewhere.Due, Claims: 1}
}

// end queues the writes of the noted memories.
func (w *vectorWrites) end(batch *pgx.Batch) {
	if len(w.last) == 0 {
		return
	}
	var put []memory.Memory
	var gone []string
	for _, m := range slices.SortedFunc(maps.Values(w.last),
		func(a, b memory.Memory) int { return cmp.Compare(a.ID, b.ID) }) {
		if m.HasVector() {
			put = append(put, m)
		} else {
			gone = append(gone, m.ID)
		}
	}
	w.to.Queue(batch, w.space, put, gone)
}

// refusedVectors is the error of a transaction with vectors whose end Postgres has
// refused: their table may have been dropped.
type refusedVectors struct{ error }

func (r refusedVectors) Unwrap() error { return r.error }

// ended returns the error of the end of the transaction.
func (w *vectorWrites) ended(err error) error {
	if len(w.last) > 0 && sqlState(err) != "" {
		return refusedVectors{err}
	}
	return err
}
