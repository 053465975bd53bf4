package sqlitevec

import (
	"context"
	"database/sql"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"hippocampus/internal/memory"
)

// heldFrom is how many records an owner has at least whose vectors are held:
// fewer are compared in the file almost as fast.
const heldFrom = 500

// held are the matrices of the owners that were searched last:
//
//	search of an owner with many records -> rows -> matrix -> hits
//	commit of a write                    -> what it changed -> matrices
//
// A matrix is entered before its rows are read, and commits are made under mu:
// what the rows do not show yet reaches the matrix as a change, in order.
type held struct {
	from, limit int
	dim         int

	mu     sync.Mutex
	owners *simplelru.LRU[memory.Owner, *entry]
	bytes  int
}

// entry is a matrix and what it counts for.
type entry struct {
	*matrix
	counted int
}

func newHeld(dim, limit int) *held {
	h := &held{from: heldFrom, limit: limit, dim: dim}
	const most = 1 << 16 // owners, with those that have too much
	owners, err := simplelru.NewLRU(most, func(_ memory.Owner, e *entry) { h.bytes -= e.counted })
	if err != nil {
		panic(err) // most is positive
	}
	h.owners = owners
	return h
}

// of is the owner's matrix; nil: there is none, and the file is to be searched.
func (h *held) of(ctx context.Context, db *sql.DB, owner memory.Owner) (*matrix, error) {
	if h.limit <= 0 {
		return nil, nil
	}
	h.mu.Lock()
	e, ok := h.owners.Get(owner)
	h.mu.Unlock()
	if ok {
		return e.matrix, nil
	}
	var many int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM records WHERE app_id = ? AND user_id = ? LIMIT ?)`,
		owner.AppID, owner.UserID, h.from).Scan(&many); err != nil || many < h.from {
		return nil, err
	}
	e, entered := h.enter(owner)
	if !entered {
		return e.matrix, nil
	}
	err := e.read(ctx, db, h.dim, h.limit)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch current, _ := h.owners.Peek(owner); {
	case current != e: // dropped meanwhile
	case err != nil:
		h.owners.Remove(owner)
	default:
		h.count(e)
	}
	return e.matrix, err
}

// enter returns the owner's entry, and whether it was made for that.
func (h *held) enter(owner memory.Owner) (e *entry, entered bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e, ok := h.owners.Get(owner); ok {
		return e, false
	}
	e = &entry{matrix: newMatrix(owner)}
	h.owners.Add(owner, e)
	return e, true
}

// count has an entry count for what it takes by now, and drops the longest
// unused ones that are too much.
func (h *held) count(e *entry) {
	bytes := e.size()
	h.bytes += bytes - e.counted
	e.counted = bytes
	for h.bytes > h.limit {
		h.owners.RemoveOldest()
	}
}

// commit ends a transaction that has made a change to the records.
func (h *held) commit(tx *sql.Tx, c change) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := tx.Commit(); err != nil {
		h.owners.Purge()
		return err
	}
	for _, owner := range h.owners.Keys() {
		if e, ok := h.owners.Peek(owner); ok { // not dropped for the ones before
			e.change(c)
			h.count(e)
		}
	}
	return nil
}

// forget ends a transaction that may have changed all records of these owners,
// or of all when none is named.
func (h *held) forget(tx *sql.Tx, owners ...memory.Owner) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(owners) == 0 {
		h.owners.Purge()
	}
	for _, owner := range owners {
		h.owners.Remove(owner)
	}
	return tx.Commit()
}

// close drops everything.
func (h *held) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owners.Purge()
}
