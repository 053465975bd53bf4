package proof

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/sqlite"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/server/config"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/sqlitevec"
)

// space is the embedding space of the scripted embedder.
var space = vectorstore.Space{Model: "scripted", Dim: llmtest.Dim}

// openStores opens the stores of a running server, and closes them when the test ends.
func openStores(t *testing.T, cfg config.Config) (db.Store, vectorstore.Store) {
	t.Helper()
	records, err := openRecords(t.Context(), cfg)
	if err != nil {
		t.Fatalf("open the server's database: %v", err)
	}
	t.Cleanup(func() { _ = records.Close() })
	vectors, err := openVectors(t.Context(), cfg)
	if err != nil {
		t.Fatalf("open the server's vector store: %v", err)
	}
	t.Cleanup(func() { _ = vectors.Close() })
	return records, vectors
}

func openRecords(ctx context.Context, cfg config.Config) (db.Store, error) {
	if cfg.Database.URL == "" {
		return sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(cfg.Data, "hippocampus.db")})
	}
	return postgres.Open(ctx, postgres.Options{URL: cfg.Database.URL, MaxConns: 8})
}

func openVectors(ctx context.Context, cfg config.Config) (vectorstore.Store, error) {
	if cfg.Milvus.Host == "" {
		return sqlitevec.Open(ctx, sqlitevec.Options{Path: filepath.Join(cfg.Data, sqlitevec.FileName(space)), Space: space})
	}
	return milvus.Open(ctx, milvus.Options{
		Addr: fmt.Sprintf("%s:%d", cfg.Milvus.Host, cfg.Milvus.Port), Collection: cfg.Milvus.Collection, Space: space,
		Partitions: cfg.Milvus.Partitions, Timeout: time.Minute,
	})
}
