package guard

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/sqlitevec"
	"hippocampus/vectorstore/vectortest"
)

func TestGuardedStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	vectortest.Run(t, func(t *testing.T, space vectorstore.Space) vectorstore.Store {
		store, err := sqlitevec.Open(t.Context(), sqlitevec.Options{Path: filepath.Join(t.TempDir(), "vectors.db"), Space: space})
		if err != nil {
			t.Fatal(err)
		}
		return New(store)
	})
}

// broken fails every search in the way it is told.
type broken struct {
	vectorstore.Store
	err   error
	calls int
}

func (b *broken) Search(context.Context, vectorstore.Query) ([]vectorstore.Hit, error) {
	b.calls++
	return nil, b.err
}

func TestAStoreThatIsAwayIsNotAskedOverAndOver(t *testing.T) {
	t.Parallel()
	store := &broken{err: memory.Errorf(memory.KindUnavailable, "away")}
	guarded := New(store)
	for range 20 {
		if _, err := guarded.Search(t.Context(), vectorstore.Query{}); !memory.IsKind(err, memory.KindUnavailable) {
			t.Fatal(err)
		}
	}
	if store.calls != failures {
		t.Errorf("asked %d times, want %d", store.calls, failures)
	}
	store.err = nil
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := guarded.Search(t.Context(), vectorstore.Query{}); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a store that is back is not asked again")
		}
	}
}

func TestARefusalIsNoOutage(t *testing.T) {
	t.Parallel()
	store := &broken{err: memory.Errorf(memory.KindInvalid, "bad query")}
	guarded := New(store)
	for range 20 {
		_, _ = guarded.Search(t.Context(), vectorstore.Query{})
	}
	if store.calls != 20 {
		t.Errorf("asked %d times, want 20", store.calls)
	}
}
