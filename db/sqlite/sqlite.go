// Package sqlite is the database contract on one SQLite file:
//
//	changes -> one writing connection -> WAL file -> a few reading connections
//	jobs    -> River's tables, in the transaction of the change that needs them
//
// A commit is on the disk before it is answered (synchronous=FULL). Asynchronous
// commits are the exception: a power cut can undo counted accesses and the
// results of the last pushes to the vector store, which are then pushed again.
//
// Writers of one process queue in Go, where contexts are honoured. SQLite itself
// waits for other processes, such as a command run during the server's work, for
// up to five seconds, during which it does not notice the end of a context.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"golang.org/x/sync/semaphore"
	"modernc.org/sqlite"

	"hippocampus/db"
	"hippocampus/db/sqlite/sqlitefile"
	"hippocampus/db/sqlite/stmtcache"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

var _ db.Store = (*Store)(nil)

// Options chooses the file.
type Options struct {
	Path   string       // of the database file, which is created if missing; its folder must exist
	Logger *slog.Logger // nil: silent
}

// Store is the database. It is safe for concurrent use. Package db documents the methods.
type Store struct {
	sqlstore.Store // the parts that both adapters share
	sqlstore.Jobs[*sql.Tx]

	path   string
	writer *sql.DB    // one connection: SQLite has one writer at a time
	queue  writeQueue // of the writers
	reader *sql.DB
	schema sqlstore.Versions // needed by this program
	disk   sqlstore.Disk
	log    *slog.Logger

	jobs     *river.Client[*sql.Tx] // for inserts
	arrivals arrivals

	cleaner *sqlitefile.Cleaner
	copies  *semaphore.Weighted // of this process: no other process copies while it serves
}

const (
	busyMillis = "5000" // how long SQLite waits for another process' write; see busyTimeout
	readers    = 4
)

// Open opens the file. It does not migrate. KindUnavailable: it cannot be opened or created.
func Open(ctx context.Context, o Options) (*Store, error) { return open(ctx, connector, o) }

// connector makes connections to an address that keep statements prepared.
func connector(address string) (driver.Connector, error) {
	c, err := sqlite.NewConnector(address)
	if err != nil {
		return nil, err
	}
	return stmtcache.Connector(c), nil
}

func open(ctx context.Context, connector func(address string) (driver.Connector, error), o Options) (*Store, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil || o.Path == "" {
		return nil, memory.Errorf(memory.KindInvalid, "the database needs the path of a file, not %q", o.Path)
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{path: path, queue: newWriteQueue(), log: log, arrivals: make(arrivals, enoughArrivals)}
	s.Store = sqlstore.New(database{s}, sqlstore.SQLite)
	opened := func(err error) (*Store, error) {
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	}
	if errPack != nil {
		return opened(fault(errPack, "prepare SQLite"))
	}
	writing, err := connector(address(path, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"secure_delete(1)"))
	if err != nil {
		return opened(fault(err, "open "+path))
	}
	if err := sqlitefile.Private(path); err != nil {
		return opened(cannotOpen(path, err))
	}
	s.writer = sql.OpenDB(writing)
	s.writer.SetMaxOpenConns(1)
	// This also creates the file, in WAL mode. If several processes do so at once,
	// SQLite refuses some without waiting.
	if _, err := retryBusy(ctx, func() (any, error) { return nil, s.writer.PingContext(ctx) }); err != nil {
		return opened(cannotOpen(path, err))
	}
	reading, err := connector(address(path, "query_only(1)"))
	if err != nil {
		return opened(fault(err, "open "+path))
	}
	s.reader = sql.OpenDB(reading)
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	s.cleaner = sqlitefile.NewCleaner(s.reader, s.write)
	s.copies = semaphore.NewWeighted(maxCopies)
	if s.jobs, err = river.NewClient(riversqlite.New(s.writer), &river.Config{
		Logger: log, MaxAttempts: sqlstore.JobAttempts, Middleware: sqlstore.JobMiddleware(),
	}); err != nil {
		return opened(fmt.Errorf("prepare the job queue: %w", err))
	}
	// Jobs are read by the reading connections, also while others write.
	jobs, err := river.NewClient(riversqlite.New(s.reader), &river.Config{Logger: log})
	if err != nil {
		return opened(fmt.Errorf("prepare to read the job queue: %w", err))
	}
	s.Jobs = sqlstore.NewJobs(s.jobs, jobs, fault)
	migrations, err := s.migrations()
	if err == nil {
		s.schema = migrations.Wanted()
	}
	return opened(err)
}

func cannotOpen(path string, err error) error {
	return memory.Errorf(memory.KindUnavailable,
		"the database file %s cannot be opened: %w; check that its folder exists and can be written", path, err)
}

// address is the driver's name for a file with the settings of its connections.
// A transaction takes the write lock when it begins, so that it cannot fail later
// for lack of the lock. Times are stored in UTC: River compares them as texts.
func address(path string, pragmas ...string) string {
	query := url.Values{"_txlock": {"immediate"}, "_timezone": {"UTC"}, "_time_format": {"sqlite"},
		"_pragma": append([]string{"busy_timeout(" + busyMillis + ")"}, pragmas...)}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// Driver returns the driver for a River client that works on the jobs of this
// database. It shares the writing connection.
func (s *Store) Driver() riverdriver.Driver[*sql.Tx] {
	return jobDriver{riversqlite.New(s.writer), s.arrivals}
}

// Close ends every connection.
func (s *Store) Close() error {
	var errs []error
	for _, pool := range []*sql.DB{s.reader, s.writer} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// write runs f in a transaction of the writing connection and commits it
// unless f returns an error.
func (s *Store) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	if err := s.queue.acquire(ctx); err != nil {
		return err
	}
	defer s.queue.release()
	return s.noting(transact(ctx, s.writer, f))
}

// noting notes if a change failed because the disk is full, and returns its error.
func (s *Store) noting(err error) error {
	if isFull(err) {
		s.disk.Full()
	}
	return err
}

// writeAsync is write without waiting for the disk, for changes that may be lost
// or that are then made again. A power cut can undo them, but no change that write has committed. The death of the
// process undoes neither. The next commit of write makes them durable.
func (s *Store) writeAsync(ctx context.Context, f func(tx *sql.Tx) error) error {
	if err := s.queue.acquire(ctx); err != nil {
		return err
	}
	defer s.queue.release()
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer func() {
		if _, err := conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA synchronous = FULL`); err != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // so that the pool opens another
		}
	}()
	if _, err := conn.ExecContext(ctx, `PRAGMA synchronous = NORMAL`); err != nil {
		return err
	}
	return s.noting(transact(ctx, conn, f))
}

// transact runs f in a transaction that has the write lock from its beginning.
func transact(ctx context.Context, on interface {
	BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
}, f func(tx *sql.Tx) error) error {
	tx, err := retryBusy(ctx, func() (*sql.Tx, error) { return on.BeginTx(ctx, nil) })
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit; also runs if f panics
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return errors.Join(err, ctx.Err()) // Commit reports an ended context as a finished transaction
	}
	return nil
}
