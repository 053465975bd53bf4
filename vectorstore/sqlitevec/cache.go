package sqlitevec

import (
	"context"
	"database/sql"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"hippocampus/internal/memory"
)

// minCached is the least number of records of an owner whose vectors are cached:
// comparing fewer in the file is almost as fast.
const minCached = 500

// cache holds the matrices of the owners that were searched last:
//
//	search of an owner with many records -> rows -> matrix -> hits
//	commit of a write                    -> change -> matrices
//
// A matrix is added before its rows are read, and every commit holds mu.
// Therefore a write that the rows do not contain reaches the matrix as a change.
type cache struct {
	minRecords int // least number of records of a cached owner
	limit      int // bytes
	dim        int

	mu     sync.Mutex
	owners *simplelru.LRU[memory.Owner, *entry]
	bytes  int // sum over the entries
}

// entry is a matrix with its size, in bytes, when it was last measured.
type entry struct {
	*matrix
	measured int
}

func newCache(dim, limit int) *cache {
	c := &cache{minRecords: minCached, limit: limit, dim: dim}
	const maxOwners = 1 << 16 // including those whose records exceed the limit
	owners, err := simplelru.NewLRU(maxOwners, func(_ memory.Owner, e *entry) { c.bytes -= e.measured })
	if err != nil {
		panic(err) // maxOwners is positive
	}
	c.owners = owners
	return c
}

// get returns the owner's matrix; nil if the owner is not cached and the file
// must be searched.
func (c *cache) get(ctx context.Context, db *sql.DB, owner memory.Owner) (*matrix, error) {
	if c.limit <= 0 {
		return nil, nil
	}
	c.mu.Lock()
	e, ok := c.owners.Get(owner)
	c.mu.Unlock()
	if ok {
		return e.matrix, nil
	}
	var count int
	err := db.QueryRowContext(ctx,
		`SELECT count(*) FROM (SELECT 1 FROM records WHERE app_id = ? AND user_id = ? LIMIT ?)`,
		owner.AppID, owner.UserID, c.minRecords).Scan(&count)
	if err != nil || count < c.minRecords {
		return nil, err
	}
	e, added := c.add(owner)
	if !added {
		return e.matrix, nil
	}
	err = e.read(ctx, db, c.dim, c.limit)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch current, _ := c.owners.Peek(owner); {
	case current != e: // purged in the meantime
	case err != nil:
		c.owners.Remove(owner)
	default:
		c.measure(e)
	}
	return e.matrix, err
}

// add returns the owner's entry and whether it was added by this call.
func (c *cache) add(owner memory.Owner) (e *entry, added bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.owners.Get(owner); ok {
		return e, false
	}
	e = &entry{matrix: newMatrix(owner)}
	c.owners.Add(owner, e)
	return e, true
}

// measure updates the size of an entry and evicts the least recently used
// entries while the cache exceeds its limit.
func (c *cache) measure(e *entry) {
	bytes := e.size()
	c.bytes += bytes - e.measured
	e.measured = bytes
	for c.bytes > c.limit {
		c.owners.RemoveOldest()
	}
}

// commit returns a function that commits a transaction with this change.
func (c *cache) commit(ch change) func(tx *sql.Tx) error {
	return func(tx *sql.Tx) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if err := tx.Commit(); err != nil {
			c.owners.Purge()
			return err
		}
		for _, owner := range c.owners.Keys() {
			if e, ok := c.owners.Peek(owner); ok { // not evicted by an earlier iteration
				e.change(ch)
				c.measure(e)
			}
		}
		return nil
	}
}

// commitAndRemove returns a function that commits a transaction which may have
// changed all records of the owner.
func (c *cache) commitAndRemove(owner memory.Owner) func(tx *sql.Tx) error {
	return func(tx *sql.Tx) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.owners.Remove(owner)
		return tx.Commit()
	}
}

// commitAndPurge commits a transaction that may have changed all records.
func (c *cache) commitAndPurge(tx *sql.Tx) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owners.Purge()
	return tx.Commit()
}

func (c *cache) purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owners.Purge()
}
