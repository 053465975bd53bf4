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

// keptExact is the most records of an owner whose vectors are cached exactly, in addition to their codes, as long as
// the owner is in the cache. The exact vectors of an owner with more records give way to the vectors of other owners:
// without them a search reads the nearest from the file, which takes about 4 ms.
const keptExact = 4096

// CacheBytes is how many bytes of vectors a server holds: those of a user with 100,000 memories, the default of
// memories.max_per_user, of 512 numbers each, as the built-in embedder has.
const CacheBytes = 80 << 20

// cache holds the matrices of the owners that were searched last:
//
//	search of an owner with many records -> file -> hits; in the background: rows -> matrix
//	later searches of the owner          -> matrix -> hits
//	commit of a write                    -> change -> matrices
//
// A matrix is added before its rows are read, and every commit holds mu.
// Therefore a write that the rows do not contain reaches the matrix as a change.
type cache struct {
	minRecords int // least number of records of a cached owner
	keptExact  int // most records of an owner whose exact vectors do not give way
	maxExact   int // most records of an owner whose exact vectors are cached: these take half of limit
	limit      int // bytes
	dim        int

	closing context.Context // canceled by close
	cancel  context.CancelFunc
	reads   sync.WaitGroup

	mu        sync.Mutex
	owners    *simplelru.LRU[memory.Owner, *entry]
	bytes     int // sum over the entries
	isFilling bool
}

// entry is a matrix with its size, in bytes, when it was last measured.
type entry struct {
	*matrix
	measured int
}

func newCache(dim, limit int) *cache {
	exact := row{codes: codes{numbers: make([]int8, dim)}, exact: make([]float32, dim)}
	c := &cache{minRecords: minCached, keptExact: keptExact, maxExact: limit / 2 / exact.bytes(), limit: limit, dim: dim}
	c.closing, c.cancel = context.WithCancel(context.Background())
	const maxOwners = 1 << 16 // including those whose records exceed the limit
	owners, err := simplelru.NewLRU(maxOwners, func(_ memory.Owner, e *entry) { c.bytes -= e.measured })
	if err != nil {
		panic(err) // maxOwners is positive
	}
	c.owners = owners
	return c
}

// get returns the owner's entry, if there is one.
func (c *cache) get(owner memory.Owner) (e *entry, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owners.Get(owner)
}

// fill reads the owner's vectors in the background if the owner has so many records that
// they should be cached. It reads the vectors of one owner at a time.
func (c *cache) fill(ctx context.Context, db *sql.DB, owner memory.Owner) error {
	if c.limit <= 0 {
		return nil
	}
	var count int
	err := db.QueryRowContext(ctx,
		`SELECT count(*) FROM (SELECT 1 FROM records WHERE app_id = ? AND user_id = ? LIMIT ?)`,
		owner.AppID, owner.UserID, max(c.minRecords, c.maxExact+1)).Scan(&count)
	if err != nil || count < c.minRecords {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owners.Contains(owner) || c.isFilling || c.closing.Err() != nil {
		return nil
	}
	e := &entry{matrix: newMatrix(owner, c.maxExact)}
	e.exact = count <= c.maxExact
	c.owners.Add(owner, e)
	c.isFilling = true
	c.reads.Go(func() {
		err := e.read(c.closing, db, c.dim, c.limit)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.isFilling = false
		switch current, _ := c.owners.Peek(owner); {
		case current != e: // purged in the meantime
		case err != nil:
			c.owners.Remove(owner)
		default:
			c.measure(e)
		}
	})
	return nil
}

// measure updates the size of an entry. While the cache exceeds its limit, exact vectors give way, and then entries,
// the least recently used first.
func (c *cache) measure(e *entry) {
	bytes := e.size()
	c.bytes += bytes - e.measured
	e.measured = bytes
	for c.bytes > c.limit && c.dropExact() {
	}
	for c.bytes > c.limit {
		c.owners.RemoveOldest()
	}
}

// dropExact removes the exact vectors of the least recently used owner that has more than keptExact records. It
// reports whether there was one.
func (c *cache) dropExact() bool {
	for _, owner := range c.owners.Keys() {
		if e, ok := c.owners.Peek(owner); ok && e.dropExact(c.keptExact) {
			bytes := e.size()
			c.bytes += bytes - e.measured
			e.measured = bytes
			return true
		}
	}
	return false
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

// close ends the background reads and empties the cache.
func (c *cache) close() {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.reads.Wait()
	c.purge()
}
