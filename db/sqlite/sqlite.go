// Package sqlite keeps the record in one SQLite file:
//
//	changes -> one writing connection -> WAL file -> a few reading connections
//	jobs    -> River's tables, in the transaction of what they are about
//
// A commit is on the disk before it is answered (synchronous=FULL). A power cut
// may undo no more than counted accesses, and what the last pushes to the vector
// store came to, which are then made again.
//
// Writers of one process stand in line in Go, where contexts are honoured; those
// of another process (a command beside the server) are waited for by SQLite, for
// up to five seconds, in which the end of a context goes unseen.
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
	"modernc.org/sqlite"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlite/stmtcache"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

var _ db.Store = (*Store)(nil)

// Options says which file to use.
type Options struct {
	Path   string       // of the database file, made where absent; its folder must exist
	Logger *slog.Logger // nil: silent
}

// Store is the database. It is safe for concurrent use.
type Store struct {
	sqlstore.Store // the parts that both adapters share
	sqlstore.Jobs[*sql.Tx]

	path   string
	writer *sql.DB // one connection: SQLite has one writer at a time
	line   line    // of those who want to write
	reader *sql.DB
	jobs   *river.Client[*sql.Tx] // inserts only
	schema sqlstore.Versions      // that this program needs
	log    *slog.Logger
}

const (
	busyMillis = "5000" // how long SQLite waits for another process' write; see patience
	readers    = 4
)

// Open opens the file. It does not migrate. KindUnavailable: it cannot be opened or made.
func Open(ctx context.Context, o Options) (*Store, error) { return open(ctx, connector, o) }

// connector makes the connections to an address, with statements kept prepared.
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
	s := &Store{path: path, line: newLine(), log: log}
	s.Store = sqlstore.New(database{s}, sqlstore.SQLite)
	opened := func(err error) (*Store, error) {
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	}
	writing, err := connector(address(path, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"))
	if err != nil {
		return opened(fault(err, "open "+path))
	}
	s.writer = sql.OpenDB(writing)
	s.writer.SetMaxOpenConns(1)
	// This also makes the file, in WAL mode: of several processes that do so at
	// once SQLite refuses some without waiting.
	if _, err := insist(ctx, func() (any, error) { return nil, s.writer.PingContext(ctx) }); err != nil {
		return opened(memory.Errorf(memory.KindUnavailable,
			"the database file %s cannot be opened: %w; check that its folder exists and can be written", path, err))
	}
	reading, err := connector(address(path, "query_only(1)"))
	if err != nil {
		return opened(fault(err, "open "+path))
	}
	s.reader = sql.OpenDB(reading)
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	if s.jobs, err = river.NewClient(riversqlite.New(s.writer), &river.Config{Logger: log, MaxAttempts: rowcodec.JobAttempts}); err != nil {
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

// address is the driver's name for a file and what each connection to it is set to.
// Transactions take the write lock when they begin, so that none fails half-way for the lack of it.
func address(path string, pragmas ...string) string {
	query := url.Values{"_txlock": {"immediate"}, "_pragma": append([]string{"busy_timeout(" + busyMillis + ")"}, pragmas...)}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// Driver is what a River client needs to work on the jobs of this database. It
// shares the writing connection.
func (s *Store) Driver() riverdriver.Driver[*sql.Tx] { return riversqlite.New(s.writer) }

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
	if err := s.line.enter(ctx); err != nil {
		return err
	}
	defer s.line.leave()
	return transact(ctx, s.writer, f)
}

// writeLoosely is write for what may be lost, or is done again where it was: the
// disk is not waited for. A power cut may undo it, but nothing that write has
// committed; the death of the process does not. The next commit of write makes it
// durable.
func (s *Store) writeLoosely(ctx context.Context, f func(tx *sql.Tx) error) error {
	if err := s.line.enter(ctx); err != nil {
		return err
	}
	defer s.line.leave()
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer func() {
		if _, err := conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA synchronous = FULL`); err != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // another is opened in its place
		}
	}()
	if _, err := conn.ExecContext(ctx, `PRAGMA synchronous = NORMAL`); err != nil {
		return err
	}
	return transact(ctx, conn, f)
}

// transact runs f in a transaction that has the write lock from the beginning.
func transact(ctx context.Context, on interface {
	BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
}, f func(tx *sql.Tx) error) error {
	tx, err := insist(ctx, func() (*sql.Tx, error) { return on.BeginTx(ctx, nil) })
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after a commit; also when f panics
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return errors.Join(err, ctx.Err()) // an ended context shows as a finished transaction
	}
	return nil
}
