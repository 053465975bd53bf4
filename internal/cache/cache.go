// Package cache keeps what is costly to make, as much as fits in a number of
// bytes:
//
//	key -> value, or nothing;  value + its size -> kept, the longest unused dropped
package cache

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache keeps values under keys. It is safe for concurrent use.
type Cache[V any] struct {
	limit int

	mu    sync.Mutex
	lru   *simplelru.LRU[string, entry[V]]
	stats Stats
}

type entry[V any] struct {
	value V
	size  int
}

// Stats count what a cache has done since it was made, and what it holds.
type Stats struct {
	Hits, Misses uint64
	Entries      int
	Bytes        int
}

// perEntry is about what the list and the map cost for each entry, in bytes.
const perEntry = 200

// New makes a cache of up to limit bytes; 0 or less keeps nothing.
func New[V any](limit int) *Cache[V] {
	c := &Cache[V]{limit: limit}
	// Entries are bounded by their bytes alone: none costs less than perEntry.
	lru, err := simplelru.NewLRU(max(1, limit/perEntry+1), func(_ string, e entry[V]) { c.stats.Bytes -= e.size })
	if err != nil {
		panic(err) // its size is positive
	}
	c.lru = lru
	return c
}

// Get returns the value under a key, and whether there is one.
func (c *Cache[V]) Get(key string) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.lru.Get(key)
	if ok {
		c.stats.Hits++
	} else {
		c.stats.Misses++
	}
	return e.value, ok
}

// Add keeps a value of so many bytes, in place of what was under the key. What
// is larger than the whole cache is not kept.
func (c *Cache[V]) Add(key string, value V, bytes int) {
	e := entry[V]{value, bytes + len(key) + perEntry}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(key)
	if e.size > c.limit {
		return
	}
	c.lru.Add(key, e)
	c.stats.Bytes += e.size
	for c.stats.Bytes > c.limit {
		c.lru.RemoveOldest()
	}
}

// Remove drops the value under a key.
func (c *Cache[V]) Remove(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(key)
}

// Purge drops everything.
func (c *Cache[V]) Purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Purge()
}

// Stats tell how the cache has done.
func (c *Cache[V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Entries = c.lru.Len()
	return s
}
