package sqlitevec

import (
	"fmt"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// The default of memories.max_per_user, and the numbers of a vector of the built-in embedder.
const (
	mostMemories    = 100_000
	builtInNumbers  = 512
	charactersOfIDs = 36
)

func TestVectorCache_HoldsUserAtTheBound(t *testing.T) {
	t.Parallel()
	held := row{id: strings.Repeat("0", charactersOfIDs)}
	vector := make([]float32, builtInNumbers)
	vector[0] = 1
	held.encode(vector, mostMemories <= newCache(builtInNumbers, CacheBytes).maxExact)
	if all := mostMemories * held.bytes(); all > CacheBytes {
		t.Errorf("the vectors of %d memories take %d bytes, and the cache holds %d", mostMemories, all, CacheBytes)
	}
}

// The exact vectors of 10,000 memories are held, and give way to the vectors of other users.
func TestVectorCache_HoldsExactVectorsWhileThereIsRoom(t *testing.T) {
	t.Parallel()
	c := newCache(builtInNumbers, CacheBytes)
	const memories, users = 10_000, 8
	vector := make([]float32, builtInNumbers)
	vector[0] = 1
	var entries []*entry
	for u := range users {
		e := &entry{matrix: newMatrix(memory.Owner{UserID: fmt.Sprint(u)}, c.maxExact)}
		e.state = ready
		for i := range memories {
			held := row{id: fmt.Sprintf("%0*d", charactersOfIDs, i)}
			held.encode(vector, e.exact)
			e.add(held)
		}
		c.owners.Add(e.owner, e)
		c.measure(e)
		entries = append(entries, e)
		if !e.exact {
			t.Errorf("the exact vectors of user %d are dropped first", u)
		}
	}
	if c.owners.Len() != users || c.bytes > CacheBytes || entries[0].exact || entries[0].rows[0].exact != nil {
		t.Errorf("%d of %d users are held in %d bytes, with the exact vectors of the first: %t",
			c.owners.Len(), users, c.bytes, entries[0].exact)
	}
}
