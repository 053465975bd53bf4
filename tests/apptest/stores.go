// Package apptest provides the parts from which the tests of a service build
// their fixture: stores on disk, scripted models, a recording pusher and a clock
// that the test moves. It imports no service, so every service's internal tests
// can use it.
//
//	SQLite -> database     Vectors -> vector store     Models -> scripted endpoint
//	Chat, Embedder, Pusher -> stand-ins that record their calls and can fail
package apptest

import (
	"context"
	"path/filepath"
	"testing"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/db/sqlite/sqlitetest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/sqlitevec"
)

// SQLite returns a migrated database of the test's own.
func SQLite(t testing.TB) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: sqlitetest.Path(t)})
	return Migrated(t, store, err)
}

// Migrated takes the results of a store's Open, migrates the store, and closes it when the
// test ends.
func Migrated[S db.Store](t testing.TB, store S, err error) S {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

// Withhold withholds a text of the first message of a turn, in the next edition of its conversation; "": shows all of
// it again.
func Withhold(t testing.TB, store db.Store, turn memory.Turn, text string) {
	t.Helper()
	var withheld []memory.Withheld
	if text != "" {
		withheld = append(withheld, memory.Withheld{Text: text, Statement: memory.NewID(), At: turn.At})
	}
	err := store.InUser(context.Background(), turn.Owner, func(ctx context.Context, tx db.UserTx) error {
		r := db.ConversationRevision{From: turn.FirstEvent}
		if err := tx.ReviseConversation(ctx, turn.ConversationID, r); err != nil {
			return err
		}
		return tx.Withhold(ctx, turn.ID, withheld)
	})
	if err != nil {
		t.Error(err)
	}
}

// Vectors returns an empty vector store for the embedder's vectors.
func Vectors(t testing.TB, embedder llm.Embedder) *sqlitevec.Store {
	t.Helper()
	space := vectorstore.Space{Model: embedder.Model(), Dim: embedder.Dim()}
	return VectorFile(t, filepath.Join(t.TempDir(), "vectors.db"), space)
}

// VectorFile opens the vector store in a file, and closes it when the test ends.
func VectorFile(t testing.TB, path string, space vectorstore.Space) *sqlitevec.Store {
	t.Helper()
	vectors, err := sqlitevec.Open(t.Context(), sqlitevec.Options{Path: path, Space: space})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = vectors.Close() })
	return vectors
}
