package cache

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest" // sets its flags
)

func TestCache_EvictsLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	c := New[int](3 * (perEntry + 100 + 1))
	for i, key := range []string{"a", "b", "c"} {
		c.Add(key, i, 100)
	}
	c.Get("a")
	c.Add("d", 3, 100)
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if _, ok := c.Get(key); ok != want {
			t.Errorf("%s is cached: %v", key, ok)
		}
	}
	if s := c.Stats(); s.Hits != 4 || s.Misses != 1 || s.Entries != 3 {
		t.Errorf("the statistics are %+v", s)
	}
	c.Remove("c")
	c.Purge()
	if s := c.Stats(); s.Entries != 0 || s.Bytes != 0 {
		t.Errorf("a purged cache has %+v", s)
	}
	disabled := New[int](0)
	disabled.Add("a", 1, 0)
	if _, ok := disabled.Get("a"); ok {
		t.Error("a disabled cache stores a value")
	}
}

// One value that exceeds the limit is kept, and the others are as they would be without it.
func TestCache_KeepsOneLargeValue(t *testing.T) {
	t.Parallel()
	c := New[int](3 * (perEntry + 100 + 1))
	for i, key := range []string{"a", "b", "c"} {
		c.Add(key, i, 100)
	}
	const size = 10_000
	kept := func(key string) bool { _, ok := c.Get(key); return ok }
	c.Add("a", 9, size)
	if v, _ := c.Get("a"); v != 9 || !kept("b") || !kept("c") || c.Stats().Bytes < size || c.Stats().Entries != 3 {
		t.Errorf("a large value is not kept with the others: %+v", c.Stats())
	}
	c.Add("d", 4, size)
	if kept("a") || !kept("d") || !kept("b") {
		t.Errorf("a second large value does not replace the first alone: %+v", c.Stats())
	}
	c.Add("d", 4, 100)
	if bytes := c.Stats().Bytes; !kept("d") || bytes > size {
		t.Errorf("a value that shrank takes %d bytes", bytes)
	}
	c.Add("e", 5, size)
	c.Remove("e")
	c.Add("f", 6, size)
	c.Purge()
	if kept("e") || kept("f") || c.Stats().Bytes != 0 {
		t.Errorf("a large value remains: %+v", c.Stats())
	}
}

func TestCache_RespectsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 5_000).Draw(t, "limit")
		c := New[int](limit)
		kept := map[string]int{}
		larger := map[string]int{} // by key, the size of a value that exceeds the limit: at most one
		for range rapid.IntRange(0, 60).Draw(t, "operations") {
			key := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "key"))
			if rapid.Bool().Draw(t, "remove") {
				c.Remove(key)
				delete(kept, key)
				delete(larger, key)
			} else {
				value := rapid.Int().Draw(t, "value")
				size := rapid.IntRange(0, 2_000).Draw(t, "bytes")
				c.Add(key, value, size)
				kept[key] = value
				delete(larger, key)
				if size += perEntry + len(key); limit > 0 && size > limit {
					larger = map[string]int{key: size}
				}
			}
			if v, ok := c.Get(key); ok && v != kept[key] {
				t.Fatalf("%s is %d, not %d", key, v, kept[key])
			}
			s, limit := c.Stats(), limit
			for _, size := range larger {
				limit += size
			}
			if s.Bytes > limit || s.Bytes < 0 || (s.Entries == 0) != (s.Bytes == 0) {
				t.Fatalf("it has %+v, limit %d", s, limit)
			}
		}
	})
}
