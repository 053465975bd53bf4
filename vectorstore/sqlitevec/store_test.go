package sqlitevec_test

import (
	"database/sql"
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

func TestStore_Conformance(t *testing.T) {
	t.Parallel()
	vectortest.Run(t, func(t *testing.T, space vectorstore.Space) vectorstore.Store {
		return open(t, filepath.Join(t.TempDir(), "vectors.db"), space)
	})
}

func TestRebuild_Conformance(t *testing.T) {
	t.Parallel()
	space := vectorstore.Space{Model: "test", Dim: vectortest.Dim}
	vectortest.Rebuild(t, open(t, filepath.Join(t.TempDir(), "vectors.db"), space))
}

func TestOpen_KeepsRecordsAndRefusesAnotherSpace(t *testing.T) {
	t.Parallel()
	// The name has characters with a meaning in URIs and in SQL.
	path := filepath.Join(t.TempDir(), "a b?c#d%20'\".db")
	space := vectorstore.Space{Model: "text-embedding-v4", Dim: 4}
	first := open(t, path, space)
	rec := vectorstore.Record{
		ID: "1", Owner: memory.Owner{AppID: "a", UserID: "u"}, Content: "x", Embedding: []float32{0, 3, 4, 0},
	}
	if err := first.Insert(t.Context(), []vectorstore.Record{rec}); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path, space)
	if first.Losses() != 1 || again.Losses() != 0 {
		t.Errorf("losses: %d when created, %d when opened again, want 1 and 0", first.Losses(), again.Losses())
	}
	query := vectorstore.Query{Owner: rec.Owner, Embedding: []float32{0, 0.6, 0.8, 0}, Limit: 1}
	hits, err := again.Search(t.Context(), query)
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

func TestOpen_FailsWithoutFolder(t *testing.T) {
	t.Parallel()
	_, err := sqlitevec.Open(t.Context(), sqlitevec.Options{
		Path: filepath.Join(t.TempDir(), "absent", "vectors.db"), Space: vectorstore.Space{Model: "m", Dim: 4},
	})
	if !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("got %v, want an error of kind unavailable", err)
	}
}

// A request that SQLite refuses is invalid; a file without its tables is unavailable.
func TestStore_ClassifiesErrorsOfSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vectors.db")
	space := vectorstore.Space{Model: "m", Dim: 4}
	s := open(t, path, space)
	rec := vectorstore.Record{
		ID: "1", Owner: memory.Owner{AppID: "a", UserID: "u"}, Content: "x", Embedding: []float32{0, 1, 0, 0},
	}
	other := rec
	other.ID = "2"
	search := func() error {
		_, err := s.Search(t.Context(), vectorstore.Query{Owner: rec.Owner, Embedding: rec.Embedding, Limit: 1})
		return err
	}
	if err := s.Insert(t.Context(), []vectorstore.Record{rec}); err != nil {
		t.Fatal(err)
	}
	if err := s.Insert(t.Context(), []vectorstore.Record{other, rec}); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("inserting a record again: %v, want an error of kind invalid", err)
	}

	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, step := range []struct {
		statement string
		want      memory.Kind
	}{
		{`UPDATE records SET embedding = x'0000803f'`, memory.KindInvalid}, // one number
		{`DROP TABLE records`, memory.KindUnavailable},
	} {
		if _, err := db.Exec(step.statement); err != nil {
			t.Fatal(err)
		}
		if err := search(); !memory.IsKind(err, step.want) {
			t.Errorf("searching after %s: %v, want kind %q", step.statement, err, step.want)
		}
	}
}
