package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/db/postgres"
	"hippocampus/db/sqlite"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/wordvec"
	"hippocampus/server/config"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/pgvector"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/sqlitevec"
)

// database is an open database, with what differs between the two.
type database struct {
	db.Store
	name   string // for people
	runner func(jobs.Options, ...jobs.Handler) (*jobs.Runner, error)
}

// openDatabase opens Postgres where a URL is set, else SQLite in the data folder.
func openDatabase(ctx context.Context, cfg config.Config, log *zap.Logger) (*database, error) {
	if cfg.Database.URL != "" {
		options := postgres.Options{URL: cfg.Database.URL, MaxConns: int32(cfg.Database.MaxConns), Logger: slogOf(log, "postgres")}
		if together(cfg) {
			options.Vectors = pgvector.InTransaction{}
		}
		store, err := postgres.Open(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("database: %w", err)
		}
		return &database{store, "Postgres", func(o jobs.Options, h ...jobs.Handler) (*jobs.Runner, error) {
			return jobs.New(store.Driver(), o, h...)
		}}, nil
	}
	path, err := dataFile(cfg, "hippocampus.db")
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, sqlite.Options{Path: path, Logger: slogOf(log, "sqlite")})
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return &database{store, "SQLite in " + path, func(o jobs.Options, h ...jobs.Handler) (*jobs.Runner, error) {
		return jobs.New(store.Driver(), o, h...)
	}}, nil
}

// together reports whether memories and vectors are in one database.
func together(cfg config.Config) bool { return cfg.Vectors == "pgvector" }

// pusherOf is who brings changes to the vector store, where they are not there already.
func pusherOf(cfg config.Config, push *projection.Projection) ingest.Pusher {
	if together(cfg) {
		return projection.Together{}
	}
	return push
}

// openVectors opens pgvector where it is chosen, Milvus where a host is set,
// else sqlite-vec in the data folder.
func openVectors(ctx context.Context, cfg config.Config, space vectorstore.Space, log *zap.Logger) (store vectorstore.Store, name string, err error) {
	if together(cfg) {
		store, err := pgvector.Open(ctx, pgvector.Options{
			URL: cfg.Database.URL, Space: space, Index: cfg.Pgvector.Index, Exact: cfg.Pgvector.Exact,
			MaxConns: int32(cfg.Database.MaxConns), Timeout: cfg.Pgvector.Timeout,
		})
		if err != nil {
			return nil, "", fmt.Errorf("vector store: %w", err)
		}
		return store, "pgvector in the same database, written with the memories", nil
	}
	if cfg.Milvus.Host != "" {
		addr := fmt.Sprintf("%s:%d", cfg.Milvus.Host, cfg.Milvus.Port)
		store, err := milvus.Open(ctx, milvus.Options{
			Addr: addr, Collection: cfg.Milvus.Collection, Space: space, Index: cfg.Milvus.Index,
			Partitions: cfg.Milvus.Partitions, Timeout: cfg.Milvus.Timeout, Logger: log,
		})
		if err != nil {
			return nil, "", fmt.Errorf("vector store: %w", err)
		}
		return store, fmt.Sprintf("Milvus at %s, collection %s", addr, cfg.Milvus.Collection), nil
	}
	path, err := dataFile(cfg, sqlitevec.FileName(space))
	if err != nil {
		return nil, "", err
	}
	vectors, err := sqlitevec.Open(ctx, sqlitevec.Options{Path: path, Space: space, CacheBytes: cfg.Sqlitevec.CacheBytes})
	if err != nil {
		return nil, "", fmt.Errorf("vector store: %w", err)
	}
	return vectors, "sqlite-vec in " + path, nil
}

// openEmbedder reaches the configured embedder, or takes the built-in one.
func openEmbedder(ctx context.Context, cfg config.Embedding, o llm.Options) (e llm.Embedder, name string, closeClient func(), err error) {
	if cfg.APIKey == "" {
		e := wordvec.New()
		return e, fmt.Sprintf("built-in (%s, %d numbers; weaker than a model: set QWEN_API_KEY for one)", e.Model(), e.Dim()), func() {}, nil
	}
	client, e, err := reachEmbedder(ctx, cfg, o)
	if err != nil {
		return nil, "", nil, err
	}
	return e, fmt.Sprintf("%s, %d numbers", e.Model(), e.Dim()), client.Close, nil
}

// reachEmbedder opens a model behind an endpoint.
func reachEmbedder(ctx context.Context, cfg config.Embedding, o llm.Options) (*llm.Client, llm.Embedder, error) {
	o.BaseURL, o.APIKey, o.Timeout, o.Retries, o.Concurrency = cfg.BaseURL, cfg.APIKey, cfg.Timeout, retries(cfg.Retries), cfg.Concurrency
	client := llm.NewClient(o)
	e, err := client.Embedder(ctx, llm.EmbedderOptions{
		Model: cfg.Model, QueryPrefix: cfg.QueryPrefix, DocumentPrefix: cfg.DocumentPrefix,
		Dim: cfg.Dimension, BatchSize: cfg.Batch,
	})
	if err != nil {
		client.Close()
		return nil, nil, fmt.Errorf("embedder: %w", err)
	}
	return client, e, nil
}

// retries spells "none" as llm.Options does.
func retries(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// dataFile is the path of a file in the data folder, which it makes.
func dataFile(cfg config.Config, name string) (string, error) {
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return "", fmt.Errorf("make the data folder (choose another with --data DIR): %w", err)
	}
	return filepath.Join(cfg.Data, name), nil
}
