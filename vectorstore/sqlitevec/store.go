// Package sqlitevec keeps the vector store in one SQLite file, for a single
// server without Milvus:
//
//	records -> rows, replaced by id
//	query   -> one user's rows, each compared, in memory or by sqlite-vec -> hits
//	scan    -> rows by id -> records
//
// Every search is exact. The users with many records that were searched last
// have them in memory, which follows every write. The file is a projection of the database, which does
// not notice when records are lost here: after that, and after the file has
// been deleted (see Fresh), everything is to be pushed again.
package sqlitevec

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
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

	"hippocampus/db/sqlite/stmtcache"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Options say where the vectors are.
type Options struct {
	Path  string            // of the file; made when absent
	Space vectorstore.Space // required

	CacheBytes int // of vectors held in memory; 0: none
}

// FileName is what the file of a space is called in a folder that has one file
// for each space, such as vectors_hashed-v1_512_1c0e5e1f.db. Models whose names
// differ only in other characters are told apart by the hash.
func FileName(space vectorstore.Space) string {
	const maxSlug = 32
	slug := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		}
		return '-'
	}, space.Model)
	sum := sha256.Sum256([]byte(space.Model))
	return fmt.Sprintf("vectors_%s_%d_%s.db", slug[:min(len(slug), maxSlug)], space.Dim, hex.EncodeToString(sum[:4]))
}

// Store is a vectorstore.Store in a SQLite file, safe for concurrent use. One
// process at a time may write to the file: searches need not see what another
// one has written.
type Store struct {
	writer
	path   string
	fresh  bool         // Open made the file
	losses atomic.Int64 // how often it was made
	reader *sql.DB      // as many connections as processors
}

var (
	_ vectorstore.Store     = (*Store)(nil)
	_ vectorstore.Rebuilder = (*Store)(nil)
	_ vectorstore.Mender    = (*Store)(nil)
	_ vectorstore.Dropper   = (*Store)(nil)
)

// Open opens or makes the file. Errors: KindConflict when it holds vectors of
// another space, KindUnavailable when it cannot be opened.
func Open(ctx context.Context, options Options) (*Store, error) {
	if options.Space.Model == "" || options.Space.Dim < 1 {
		return nil, memory.Errorf(memory.KindInvalid, "opening the vector file: the space has no model or no dimension: ask the embedder for both")
	}
	// SQLite has one writer.
	single, err := open(options.Path, "immediate", 1)
	if err != nil {
		return nil, failed(ctx, "opening the vector file "+options.Path, err)
	}
	s := &Store{writer: writer{options.Space, single, "records", newHeld(options.Space.Dim, options.CacheBytes)}, path: options.Path}
	if s.reader, err = open(options.Path, "deferred", max(2, runtime.GOMAXPROCS(0))); err != nil {
		single.Close()
		return nil, failed(ctx, "opening the vector file "+options.Path, err)
	}
	if err := s.Ensure(ctx); err != nil {
		s.Close()
		return nil, err
	}
	s.fresh = s.Losses() > 0
	return s, nil
}

// open makes a pool of connections to the file.
//
// synchronous=OFF: WAL keeps every write when only the process dies. A power cut
// may lose the last writes, or damage the file; the database holds them all,
// but takes them for pushed: delete the file, or push everything again. Pages of 8 kB hold three rows of 512 numbers, those of 4 kB only one.
// journal_mode stands apart because it fixes the page size, and the driver
// sorts the other pragmas by name.
func open(path, lock string, connections int) (*sql.DB, error) {
	q := url.Values{
		"_pragma": {"busy_timeout(5000)", "page_size(8192)", "synchronous(OFF)", "mmap_size(1073741824)"},
		"_txlock": {lock},
	}
	q.Set("_journal_mode", "WAL")
	connector, err := sqlite.NewConnector((&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(stmtcache.Connector(connector))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Ensure makes the tables where they are absent, and writes down the space or
// compares it. Errors as in Open.
func (s *Store) Ensure(ctx context.Context) error {
	doing := "preparing the vector file " + s.path
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return failed(ctx, doing, err)
	}
	defer tx.Rollback()
	if err := execAll(ctx, tx, schema); err != nil {
		return failed(ctx, doing, err)
	}
	inserted, err := tx.ExecContext(ctx, `INSERT INTO space (one, model, dim) VALUES (1, ?, ?) ON CONFLICT DO NOTHING`, s.space.Model, s.space.Dim)
	if err != nil {
		return failed(ctx, doing, err)
	}
	made, err := inserted.RowsAffected()
	if err != nil {
		return failed(ctx, doing, err)
	}
	var found vectorstore.Space
	if err := tx.QueryRowContext(ctx, `SELECT model, dim FROM space`).Scan(&found.Model, &found.Dim); err != nil {
		return failed(ctx, doing, err)
	}
	if found != s.space {
		return vectorstore.SpaceConflict("the vector file "+s.path, found, s.space,
			"use another data folder, or rebuild the vectors with the new model")
	}
	commit := tx.Commit
	if made > 0 {
		commit = func() error { return s.held.forget(tx) }
	}
	if err := commit(); err != nil {
		return failed(ctx, doing, err)
	}
	s.losses.Add(made)
	return nil
}

// Losses counts how often Open and Ensure made the file's contents anew.
func (s *Store) Losses() int { return int(s.losses.Load()) }

// Space is the embedding space of the vectors.
func (s *Store) Space() vectorstore.Space { return s.space }

// Fresh reports whether Open made the file: it holds nothing that was pushed
// earlier, so that everything is to be pushed again.
func (s *Store) Fresh() bool { return s.fresh }

// Ping reads from the file.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.reader.QueryRowContext(ctx, `SELECT one FROM space`).Scan(&one); err != nil {
		return failed(ctx, "pinging the vector file", err)
	}
	return nil
}

// Close waits for calls under way and closes the file.
func (s *Store) Close() error {
	s.held.close()
	return errors.Join(s.reader.Close(), s.db.Close())
}

// Drop deletes the file and closes the store.
func (s *Store) Drop(ctx context.Context) error {
	err := s.Close()
	for _, suffix := range []string{"-shm", "-wal", ""} {
		if left := os.Remove(s.path + suffix); !errors.Is(left, fs.ErrNotExist) {
			err = errors.Join(err, left)
		}
	}
	if err != nil {
		return failed(ctx, "deleting the vector file "+s.path, err)
	}
	return nil
}

// failed is the error of a step: KindInvalid when SQLite says that the request
// is wrong, else KindUnavailable, for what the file, or the end of the context,
// did not allow.
func failed(ctx context.Context, doing string, err error) error {
	switch {
	case ctx.Err() != nil:
		return memory.Errorf(memory.KindUnavailable, "%s: %w", doing, context.Cause(ctx))
	case wrongRequest(err):
		return memory.Errorf(memory.KindInvalid, "%s: the vector file refused it: %w", doing, err)
	}
	return memory.Errorf(memory.KindUnavailable, "%s: %w (see that its folder exists, can be written and has room)", doing, err)
}

// wrongRequest tells by SQLite's primary result code
// (https://www.sqlite.org/rescode.html) whether a request fails however often
// it is repeated. SQLITE_ERROR is that of sqlite-vec for vectors that do not
// match; it is also that of a file whose tables are gone.
func wrongRequest(err error) bool {
	var refused *sqlite.Error
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE:
		return true
	case sqlite3.SQLITE_ERROR:
		return !strings.Contains(err.Error(), "no such table")
	}
	return false
}
