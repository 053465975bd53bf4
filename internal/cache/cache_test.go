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
	c.Add("a", 9, 10_000)
	if _, ok := c.Get("a"); ok {
		t.Error("a value larger than the cache is stored, or the old value remains")
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

func TestCache_RespectsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 5_000).Draw(t, "limit")
		c := New[int](limit)
		kept := map[string]int{}
		for range rapid.IntRange(0, 60).Draw(t, "operations") {
			key := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "key"))
			if rapid.Bool().Draw(t, "remove") {
				c.Remove(key)
				delete(kept, key)
			} else {
				value := rapid.Int().Draw(t, "value")
				c.Add(key, value, rapid.IntRange(0, 2_000).Draw(t, "bytes"))
				kept[key] = value
			}
			if v, ok := c.Get(key); ok && v != kept[key] {
				t.Fatalf("%s is %d, not %d", key, v, kept[key])
			}
			s := c.Stats()
			if s.Bytes > limit || s.Bytes < 0 || (s.Entries == 0) != (s.Bytes == 0) {
				t.Fatalf("it has %+v, limit %d", s, limit)
			}
		}
	})
}
