package sqlitevec_test

import (
	"path/filepath"
	"strings"
	"testing"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/sqlitevec"
	"hippocampus/vectorstore/vectortest"
)

func open(t testing.TB, path string, space vectorstore.Space) *sqlitevec.Store {
	t.Helper()
	s, err := sqlitevec.Open(t.Context(), sqlitevec.Options{Path: path, Space: space})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	vectortest.Run(t, func(t *testing.T, space vectorstore.Space) vectorstore.Store {
		return open(t, filepath.Join(t.TempDir(), "vectors.db"), space)
	})
}

func TestReopenAndRefuseAnotherSpace(t *testing.T) {
	t.Parallel()
	// A folder whose name means something in a URI and in SQL.
	path := filepath.Join(t.TempDir(), "a b?c#d%20'\".db")
	space := vectorstore.Space{Model: "text-embedding-v4", Dim: 4}
	first := open(t, path, space)
	rec := vectorstore.Record{ID: "1", Owner: memory.Owner{AppID: "a", UserID: "u"}, Content: "x", Embedding: []float32{0, 3, 4, 0}}
	if err := first.Insert(t.Context(), []vectorstore.Record{rec}); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path, space)
	hits, err := again.Search(t.Context(), vectorstore.Query{Owner: rec.Owner, Embedding: []float32{0, 0.6, 0.8, 0}, Limit: 1})
	if err != nil || len(hits) != 1 || hits[0] != (vectorstore.Hit{ID: "1", Similarity: 1}) {
		t.Fatalf("after reopening: %v, %v", hits, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}

	for _, other := range []vectorstore.Space{{Model: "text-embedding-v3", Dim: 4}, {Model: space.Model, Dim: 8}} {
		_, err := sqlitevec.Open(t.Context(), sqlitevec.Options{Path: path, Space: other})
		if !memory.IsKind(err, memory.KindConflict) || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), space.Model) || !strings.Contains(err.Error(), "set the embedding model back") {
			t.Errorf("opening for %v: got %v, want a conflict that names both and the remedy", other, err)
		}
	}
}

func TestUnusableFile(t *testing.T) {
	t.Parallel()
	_, err := sqlitevec.Open(t.Context(), sqlitevec.Options{
		Path: filepath.Join(t.TempDir(), "absent", "vectors.db"), Space: vectorstore.Space{Model: "m", Dim: 4},
	})
	if !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("got %v, want an error of kind unavailable", err)
	}
}
