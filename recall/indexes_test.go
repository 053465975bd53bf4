package recall

import (
	"testing"

	"hippocampus/internal/memory"
)

// The index of a user whose memories exceed recall.cache_bytes is not made again by each recall.
func TestIndexes_KeepThatOfALargeUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.indexes = newIndexes(1)
	f.add("Ada keeps bees", func(*memory.Memory) {}, true)
	var first *index
	for range 2 {
		if _, err := f.Recall(t.Context(), Query{Owner: ada, Text: "bees", Limit: 1, At: f.now}); err != nil {
			t.Fatal(err)
		}
		x, _ := f.indexes.Get(indexKey(ada))
		if x == nil || first != nil && x != first {
			t.Fatalf("the index is %p, and was %p", x, first)
		}
		first = x
	}
}
