// Package cache is a least-recently-used cache with a limit in bytes:
//
//	key -> value, if cached;  key, value, size -> cached, the least recently used evicted
//
// A value that exceeds the limit is kept in a place of its own, where the next such value replaces it.
package cache

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache maps keys to values. It is safe for concurrent use.
type Cache[V any] struct {
	limit int

	mu    sync.Mutex
	lru   *simplelru.LRU[string, entry[V]]
	large large[V]
	stats Stats
}

// large is a value that exceeds the limit. The zero value holds no value.
type large[V any] struct {
	entry[V]
	key string
}

type entry[V any] struct {
	value V
	size  int
}

// Stats are the counters and the size of a cache.
type Stats struct {
	Hits, Misses uint64 // since New
	Entries      int
	Bytes        int
}

// perEntry is the approximate overhead of the list and the map for each entry, in
// bytes.
const perEntry = 200

// New makes a cache of up to limit bytes, and one larger value; 0 or less disables it.
func New[V any](limit int) *Cache[V] {
	c := &Cache[V]{limit: limit}
	// Only bytes limit the cache: an entry takes at least perEntry of them.
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
	if !ok && c.large.size > 0 && c.large.key == key {
		e, ok = c.large.entry, true
	}
	if ok {
		c.stats.Hits++
	} else {
		c.stats.Misses++
	}
	return e.value, ok
}

// Add stores a value of the given size, in bytes, and removes the old value of the key.
func (c *Cache[V]) Add(key string, value V, bytes int) {
	e := entry[V]{value, bytes + len(key) + perEntry}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
	switch {
	case c.limit <= 0:
		return
	case e.size > c.limit:
		c.large = large[V]{e, key}
		return
	}
	c.lru.Add(key, e)
	c.stats.Bytes += e.size
	for c.stats.Bytes > c.limit {
		c.lru.RemoveOldest()
	}
}

// Remove removes the value under a key.
func (c *Cache[V]) Remove(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

func (c *Cache[V]) remove(key string) {
	c.lru.Remove(key)
	if c.large.key == key {
		c.large = large[V]{}
	}
}

// Purge removes all values.
func (c *Cache[V]) Purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Purge()
	c.large = large[V]{}
}

// Stats returns the current statistics.
func (c *Cache[V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Entries = c.lru.Len()
	if c.large.size > 0 {
		s.Entries++
		s.Bytes += c.large.size
	}
	return s
}
