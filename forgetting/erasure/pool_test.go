package erasure

import (
	"testing"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

// An erasure that could not delete the vectors of what the user had contributed to the pool deletes them when it is
// continued, although nothing else in the vector store leads from the user to them.
func TestErase_ContinuesWithCopiesInThePool(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.write(ada, "Likes tea.", "Likes jazz.")
	b.write(bob, "Likes snow.")
	pool := memory.PoolOf(ada.AppID)
	for _, m := range append(b.memories(ada), b.memories(bob)...) {
		_, _, err := b.ingest.Contribute(t.Context(), ingest.Contribution{Owner: m.Owner, MemoryID: m.ID})
		b.must(err)
	}
	if n := b.held(pool); n != 6 {
		t.Fatalf("the pool holds %d things, want 3 memories with their vectors", n)
	}
	down := &away{Vectors: b.vectors}
	b.Service.vectors = down
	for range 2 {
		if _, err := b.Erase(t.Context(), ada); !memory.IsKind(err, memory.KindUnavailable) {
			t.Fatalf("while the vector store is unavailable: %v", err)
		}
		if rows := len(b.memories(pool)); rows != 1 {
			t.Errorf("the pool has %d memories, want that of the other user", rows)
		}
	}
	down.back = true
	if deleted := b.erased(ada).Deleted; deleted.Memories != 4 {
		t.Errorf("deleted %+v", deleted)
	}
	if n := b.held(pool); n != 2 {
		t.Errorf("the pool holds %d things, want one memory with its vector", n)
	}
}
