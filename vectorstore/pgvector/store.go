// Package pgvector keeps the vector store in the Postgres of the record, by its
// extension vector (0.5 or newer):
//
//	records -> upsert by id -> one table for each embedding space
//	query   -> one user's rows, all compared; of large users the nearest in a graph (HNSW) -> hits
//	scan    -> rows by id -> records
//	a user's transaction -> InTransaction -> the same tables, in that transaction
//
// What is written shows as soon as it is committed. Tables are found by the
// search_path of the URL, as those of the record are.
package pgvector

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Options say where the vectors are and how they are searched.
type Options struct {
	URL      string            // of the database, as in db/postgres
	Space    vectorstore.Space // required; at most 16,000 numbers
	Index    string            // of a new table: "HNSW" (the default; for at most 4,000 numbers) or "FLAT" (none)
	Exact    int               // of a user with at most so many records, all are compared
	MaxConns int32             // 0: pgx's default
	Timeout  time.Duration     // of one call; 0: 5 s
}

// setupTimeout bounds making, changing over and dropping a table.
const setupTimeout = time.Minute

// maxDim is what the type vector holds.
const maxDim = 16000

// Store is a vectorstore.Store in Postgres, safe for concurrent use.
type Store struct {
	writer
	options Options
	graph   graph
	in      string       // quoted schema of the extension
	losses  atomic.Int64 // how often the table was made
}

var (
	_ vectorstore.Store     = (*Store)(nil)
	_ vectorstore.Rebuilder = (*Store)(nil)
	_ vectorstore.Mender    = (*Store)(nil)
	_ vectorstore.Dropper   = (*Store)(nil)
)

// Open connects and ensures that the extension and the table of the space are
// there. Errors: KindInvalid when an option is wrong, KindUnavailable when the
// database cannot be reached, or the extension is missing and cannot be made.
func Open(ctx context.Context, options Options) (*Store, error) {
	if options.Index == "" {
		options.Index = "HNSW"
	}
	if options.Timeout == 0 {
		options.Timeout = 5 * time.Second
	}
	switch {
	case options.Space.Model == "" || options.Space.Dim < 1:
		return nil, memory.Errorf(memory.KindInvalid, "opening pgvector: the space has no model or no dimension: ask the embedder for both")
	case options.Space.Dim > maxDim:
		return nil, memory.Errorf(memory.KindInvalid, "opening pgvector: vectors of %d numbers are too long: it holds at most %d", options.Space.Dim, maxDim)
	}
	config, err := pgxpool.ParseConfig(options.URL)
	if err != nil {
		// What pgx says may repeat the URL, and with it the password.
		return nil, memory.Errorf(memory.KindInvalid, "the database URL cannot be read: it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	if options.MaxConns > 0 {
		config.MaxConns = options.MaxConns
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = options.Timeout
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, failed(ctx, "opening pgvector", err)
	}
	s := &Store{writer: writer{pool, options.Space, tableName(options.Space), options.Timeout}, options: options}
	if err := s.findExtension(ctx); err != nil {
		pool.Close()
		return nil, failed(ctx, "opening pgvector", err)
	}
	if err := s.Ensure(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Losses counts how often Open and Ensure made the table.
func (s *Store) Losses() int { return int(s.losses.Load()) }

// Ping reads from the table.
func (s *Store) Ping(ctx context.Context) error {
	return s.call(ctx, "pinging the vectors", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `SELECT FROM `+s.table+` LIMIT 1`)
		return err
	})
}

// Close waits for calls under way and ends the connections.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}
