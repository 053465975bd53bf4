// Package sqlitevec is the vector store in one SQLite file, for a single server
// without Milvus:
//
//	records -> rows, replaced by id
//	query   -> comparison with all rows of a user, in memory or by sqlite-vec -> hits
//	scan    -> rows by id -> records
//
// Every search is exact. A cache, which every write updates, holds the vectors of
// the users with many records that were searched last. The file is a projection
// of the database, which does not notice if records are lost here: after a loss,
// and after the file was deleted (see Losses), everything must be pushed again.
package sqlitevec

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	_ "modernc.org/sqlite/vec" // vec_distance_L2

	"hippocampus/db/sqlite/sqlitefile"
	"hippocampus/db/sqlite/stmtcache"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Options of a store.
type Options struct {
	Path       string            // of the file; Open creates it if it does not exist
	Space      vectorstore.Space // required
	CacheBytes int               // size of the cache; 0: no cache
}

// FileName is the name of a space's file in a folder with one file for each
// space, such as vectors_hashed-v1_512_1c0e5e1f.db. The hash distinguishes models
// whose names differ only in characters that the slug drops.
func FileName(space vectorstore.Space) string {
	sum := sha256.Sum256([]byte(space.Model))
	return fmt.Sprintf("vectors_%s_%d_%x.db", vectorstore.Slug(space.Model, 32, "-.", '-'), space.Dim, sum[:4])
}

// Store is a vectorstore.Store in a SQLite file, safe for concurrent use. One
// process at a time may write to the file: searches may miss the writes of
// another process.
type Store struct {
	writer
	path   string
	losses atomic.Int64 // how often the contents of the file were created
	reader *sql.DB      // as many connections as processors

	cleaner *sqlitefile.Cleaner
}

var (
	_ vectorstore.Store     = (*Store)(nil)
	_ vectorstore.Rebuilder = (*Store)(nil)
	_ vectorstore.Ensurer   = (*Store)(nil)
	_ vectorstore.Dropper   = (*Store)(nil)
)

// Open opens or creates the file. Errors: KindConflict if it holds vectors of
// another space, KindUnavailable if it cannot be opened.
func Open(ctx context.Context, options Options) (*Store, error) {
	if options.Space.Model == "" || options.Space.Dim < 1 {
		return nil, memory.Errorf(memory.KindInvalid,
			"opening the vector file: the space has no model or no dimension: ask the embedder for both")
	}
	action := "opening the vector file " + options.Path
	if err := sqlitefile.Private(options.Path); err != nil {
		return nil, failed(ctx, action, err)
	}
	db, err := open(options.Path, "immediate", 1) // SQLite has one writer
	if err != nil {
		return nil, failed(ctx, action, err)
	}
	cache := newCache(options.Space.Dim, options.CacheBytes)
	s := &Store{writer: writer{space: options.Space, db: db, table: "records", cache: cache}, path: options.Path}
	if s.reader, err = open(options.Path, "deferred", max(2, runtime.GOMAXPROCS(0))); err != nil {
		db.Close()
		return nil, failed(ctx, action, err)
	}
	s.cleaner = sqlitefile.NewCleaner(s.reader, func(ctx context.Context, f func(tx *sql.Tx) error) error {
		return inTx(ctx, s.db, (*sql.Tx).Commit, f)
	})
	if err := s.Ensure(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// open opens a pool of connections to the file.
//
// With synchronous=OFF, WAL keeps every write if only the process dies. A power
// cut may lose the last writes or damage the file, although the database counts
// them as pushed: delete the file then, or push everything again. A page of 8 kB
// holds three rows of 512 numbers, a page of 4 kB only one. journal_mode is not
// among the other pragmas because it fixes the page size and the driver sorts
// them by name.
func open(path, lock string, connections int) (*sql.DB, error) {
	q := url.Values{
		"_pragma": {"busy_timeout(5000)", "page_size(8192)", "synchronous(OFF)", "mmap_size(1073741824)",
			"secure_delete(1)"},
		"_txlock": {lock},
	}
	q.Set("_journal_mode", "WAL")
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	connector, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(stmtcache.Connector(connector))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Ensure creates missing tables, and records the space or compares it with the
// recorded one. Errors as in Open.
func (s *Store) Ensure(ctx context.Context) error {
	var created int64
	commit := func(tx *sql.Tx) error {
		if created > 0 {
			return s.cache.commitAndPurge(tx)
		}
		return tx.Commit()
	}
	err := inTx(ctx, s.db, commit, func(tx *sql.Tx) error {
		if err := execAll(ctx, tx, schema); err != nil {
			return err
		}
		inserted, err := tx.ExecContext(ctx, `INSERT INTO space (one, model, dim) VALUES (1, ?, ?) ON CONFLICT DO NOTHING`,
			s.space.Model, s.space.Dim)
		if err != nil {
			return err
		}
		if created, err = inserted.RowsAffected(); err != nil {
			return err
		}
		var found vectorstore.Space
		if err := tx.QueryRowContext(ctx, `SELECT model, dim FROM space`).Scan(&found.Model, &found.Dim); err != nil {
			return err
		}
		if found != s.space {
			return vectorstore.SpaceConflict("the vector file "+s.path, found, s.space,
				"use another data folder, or rebuild the vectors with the new model")
		}
		return nil
	})
	if err != nil {
		return failed(ctx, "preparing the vector file "+s.path, err)
	}
	s.losses.Add(created)
	return nil
}

// Losses counts how often Open and Ensure created the contents of the file.
func (s *Store) Losses() int { return int(s.losses.Load()) }

// Ping reads from the file.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return failed(ctx, "pinging the vector file", s.reader.QueryRowContext(ctx, `SELECT one FROM space`).Scan(&one))
}

// Close waits for calls under way and closes the file.
func (s *Store) Close() error {
	s.cache.close()
	return errors.Join(s.reader.Close(), s.db.Close())
}

// Drop deletes the file and closes the store.
func (s *Store) Drop(ctx context.Context) error {
	err := s.Close()
	for _, suffix := range []string{"-shm", "-wal", ""} {
		if removeErr := os.Remove(s.path + suffix); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	return failed(ctx, "deleting the vector file "+s.path, err)
}

// failed returns nil if err is nil, and an error that has a kind unchanged.
// Otherwise it is the error of an action: KindInvalid if repeating the request
// cannot succeed, else KindUnavailable.
func failed(ctx context.Context, action string, err error) error {
	known := new(memory.Error)
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		return memory.Errorf(memory.KindUnavailable, "%s: %w", action, context.Cause(ctx))
	case isInvalid(err):
		return memory.Errorf(memory.KindInvalid, "%s: the vector file refused it: %w", action, err)
	}
	return memory.Errorf(memory.KindUnavailable, "%s: %w (see that its folder exists, can be written and has room)",
		action, err)
}

// isInvalid reports, by SQLite's primary result code
// (https://www.sqlite.org/rescode.html), whether repeating a request cannot
// succeed. SQLITE_ERROR is the code of sqlite-vec for vectors of different
// dimensions, but also of SQLite for a missing table.
func isInvalid(err error) bool {
	var sqliteErr *sqlite.Error
	if !errors.As(err, &sqliteErr) {
		return false
	}
	switch sqliteErr.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE:
		return true
	case sqlite3.SQLITE_ERROR:
		return !strings.Contains(err.Error(), "no such table")
	}
	return false
}
