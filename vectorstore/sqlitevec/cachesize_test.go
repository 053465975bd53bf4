package sqlitevec

import (
	"strings"
	"testing"
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
	held.encode(vector, mostMemories <= maxExact)
	if all := mostMemories * held.bytes(); all > CacheBytes {
		t.Errorf("the vectors of %d memories take %d bytes, and the cache holds %d", mostMemories, all, CacheBytes)
	}
}
