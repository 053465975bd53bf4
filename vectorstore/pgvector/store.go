// Package pgvector is the vector store in the Postgres of the record:
//
//	records -> upsert by id -> one table for each embedding space
//	query   -> comparison with all rows of a user, or an HNSW index if they are many -> hits
//	scan    -> rows by id -> records
//	a user's transaction -> InTransaction -> the same tables, in that transaction
//
// Postgres compares the vectors, with the extension vector (0.5 or newer). Where
// the extension is missing, a table holds the same bytes as bytea, and a search
// reads a user's vectors and compares them in this process.
//
// A search finds a write as soon as it is committed. Tables are found by the
// search_path of the URL, like those of the record.
package pgvector

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hippocampus/db/postgres/pgsession"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Options of a store.
type Options struct {
	URL      string            // of the database, as in db/postgres
	Space    vectorstore.Space // required; at most 16,000 numbers
	Index    string            // of a new table: "HNSW" (default; vectors of at most 4,000 numbers) or "FLAT" (no index)
	Exact    int               // a search compares all records of a user with at most this many
	MaxConns int32             // 0: pgx's default
	Timeout  time.Duration     // of one call; 0: 5 s
	Plain    bool              // if the extension is missing, compare in this process instead of failing
}

// setupTimeout bounds creating, renaming and dropping a table.
const setupTimeout = time.Minute

// maxDim is the greatest dimension of the type vector.
const maxDim = 16000

// Store is a vectorstore.Store in Postgres, safe for concurrent use.
type Store struct {
	writer
	options Options
	graph   graph
	schema  string       // quoted schema of the extension; empty: the database has no extension
	plain   atomic.Bool  // the table has no type vector, so that searches compare in this process
	losses  atomic.Int64 // how often the table was created
}

var (
	_ vectorstore.Store     = (*Store)(nil)
	_ vectorstore.Rebuilder = (*Store)(nil)
	_ vectorstore.Ensurer   = (*Store)(nil)
	_ vectorstore.Dropper   = (*Store)(nil)
)

// Open connects and ensures that the table of the space exists, and the extension
// unless Plain is set. Errors: KindInvalid if an option is wrong, KindUnavailable
// if the database is unavailable or the extension cannot be created.
func Open(ctx context.Context, options Options) (*Store, error) {
	if options.Index == "" {
		options.Index = "HNSW"
	}
	if options.Timeout == 0 {
		options.Timeout = 5 * time.Second
	}
	switch {
	case options.Space.Model == "" || options.Space.Dim < 1:
		return nil, memory.Errorf(memory.KindInvalid,
			"opening pgvector: the space has no model or no dimension: ask the embedder for both")
	case options.Space.Dim > maxDim:
		return nil, memory.Errorf(memory.KindInvalid,
			"opening pgvector: vectors of %d numbers are too long: it holds at most %d", options.Space.Dim, maxDim)
	}
	config, err := pgxpool.ParseConfig(options.URL)
	if err != nil {
		// pgx's error may contain the URL with its password.
		return nil, memory.Errorf(memory.KindInvalid,
			"the database URL cannot be read: it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	if options.MaxConns > 0 {
		config.MaxConns = options.MaxConns
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = options.Timeout
	}
	// The contexts of calls have shorter timeouts.
	pgsession.Apply(ctx, config, pgsession.Limits{Statement: setupTimeout, Idle: options.Timeout})
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, failed(ctx, "opening pgvector", err)
	}
	w := writer{pool: pool, space: options.Space, table: tableName(options.Space), timeout: options.Timeout}
	s := &Store{writer: w, options: options}
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

// Plain reports whether searches compare in this process, because the table was
// created without the extension. A rebuild by a process that has found the
// extension creates a table of vectors.
func (s *Store) Plain() bool { return s.plain.Load() }

// Losses counts how often Open and Ensure created the table.
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
