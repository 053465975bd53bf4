package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
)

// Every change of a user's memories runs in InUser: one transaction that holds
// the write lock of the owner. The changes become visible together.
func ExampleStore_InUser() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "hippocampus.db")})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	if err := store.Migrate(ctx); err != nil {
		panic(err)
	}

	ada := memory.Owner{AppID: "app", UserID: "ada"}
	now := memory.Instant(time.Now())
	tea := memory.Memory{
		ID: memory.NewID(), Owner: ada, Content: "Ada likes tea.",
		Type: memory.TypeFact, Domain: memory.Preferences, Status: memory.Active, Importance: 0.8,
		CreatedAt: now, UpdatedAt: now, LastAccessedAt: now, Revision: 1,
		Embedding: []float32{1, 0}, EmbeddingModel: "example",
	}
	err = store.InUser(ctx, ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, []memory.Memory{tea}, time.Time{})
	})
	if err != nil {
		panic(err)
	}

	memories, err := store.ListMemories(ctx, db.MemoryFilter{Owner: ada, Limit: 10})
	if err != nil {
		panic(err)
	}
	for _, m := range memories {
		fmt.Println(m.Content, m.Status)
	}
	// Output: Ada likes tea. active
}
