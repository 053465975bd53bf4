// Package postgres is the database contract on Postgres 13 or newer:
//
//	turns, memories, keys <-> pgx pool <-> Postgres
//	jobs -> River's tables, in the transaction of the change that needs them
//
// It needs no extension. Several processes may share one database: advisory locks
// and SKIP LOCKED separate what only one of them may do at a time (a user's
// write, a claimed push, a resumed turn, a migration).
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"hippocampus/db"
	"hippocampus/db/postgres/pgsession"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
	"hippocampus/internal/ownerlock"
)

var _ db.Store = (*Store)(nil)

// Options chooses the database.
type Options struct {
	URL      string       // postgres://USER:PASSWORD@HOST:PORT/DATABASE, with ?search_path=SCHEMA if not public
	MaxConns int32        // 0: pgx's default, the larger of 4 and the number of CPUs
	Vectors  Vectors      // vector store in the same database; nil: it is elsewhere
	Logger   *slog.Logger // nil: silent

	// Timeout of one statement, one wait for a connection or a user's lock, and a
	// transaction that runs no statement; 0: a minute. Migrations and jobs have other timeouts.
	Timeout time.Duration
}

// Store is the database. It is safe for concurrent use. Package db documents the methods.
type Store struct {
	sqlstore.Store // the parts that both adapters share
	sqlstore.Jobs[pgx.Tx]

	pool       *pgxpool.Pool
	jobPool    *pgxpool.Pool         // of the client that works on jobs
	unlimited  *pgxpool.Config       // of connections that migrate
	ownerLocks ownerlock.Locks       // one writer at a time for each owner within this process
	vectors    Vectors               // nil: the vector store is elsewhere
	jobs       *river.Client[pgx.Tx] // for inserts
	schema     sqlstore.Versions     // needed by this program
	timeout    time.Duration         // see Options
	disk       sqlstore.Disk
	log        *slog.Logger
}

// jobStatement is the time that River gives a statement, such as one that reindexes its tables.
const (
	connectTimeout = 5 * time.Second
	jobStatement   = time.Minute
	jobConns       = 4
)

// Open connects and makes sure that the server answers. It does not migrate.
// KindInvalid: the URL cannot be parsed. KindUnavailable: the server cannot be
// reached or refuses; the error names host and port, never the password.
func Open(ctx context.Context, o Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		// The error of pgx may repeat the URL, and with it the password.
		return nil, memory.Errorf(memory.KindInvalid,
			"the database URL cannot be read: it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	if o.MaxConns > 0 {
		config.MaxConns = o.MaxConns
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		conn.TypeMap().RegisterType(&pgtype.Type{
			Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
		})
		if _, err := conn.Exec(ctx, genericPlans); err != nil {
			return fmt.Errorf("look whether the tables are partitioned: %w", err)
		}
		return nil
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{vectors: o.Vectors, timeout: cmp.Or(o.Timeout, time.Minute), log: log}
	if err := s.connect(ctx, config); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// connect makes the pools. No pool connects before it is used.
func (s *Store) connect(ctx context.Context, config *pgxpool.Config) (err error) {
	pgsession.KeepAlive(config)
	onError := config.ConnConfig.OnPgError
	config.ConnConfig.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		if err.Code == diskFull {
			s.disk.Full()
		}
		return onError(conn, err)
	}
	s.unlimited = config.Copy()
	jobs := config.Copy()
	jobs.MaxConns = jobConns
	pgsession.Apply(ctx, jobs, pgsession.Limits{Statement: jobStatement, Idle: s.timeout})
	if s.jobPool, err = pgxpool.NewWithConfig(ctx, jobs); err != nil {
		return unreachable(config.ConnConfig, err)
	}
	pgsession.Apply(ctx, config, pgsession.Limits{Statement: s.timeout, Idle: s.timeout})
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return unreachable(config.ConnConfig, err)
	}
	if err := s.pool.Ping(ctx); err != nil {
		return unreachable(config.ConnConfig, err)
	}
	s.jobs, err = river.NewClient(riverpgxv5.New(s.pool), &river.Config{
		Logger: s.log, MaxAttempts: sqlstore.JobAttempts, Middleware: sqlstore.JobMiddleware(),
		FetchCooldown: river.FetchCooldownMin, // for which it announces no other job of a queue
	})
	if err != nil {
		return fmt.Errorf("prepare the job queue: %w", err)
	}
	s.Jobs = sqlstore.NewJobs(s.jobs, s.jobs, fault)
	s.Store = sqlstore.New(database{statements{s.pool}, s}, sqlstore.Postgres)
	migrations, done, err := s.migrations(s.pool)
	if err != nil {
		return err
	}
	defer func() { _ = done() }()
	s.schema = migrations.Wanted()
	return nil
}

// unreachable is the error, on one line, for a server that cannot be used.
func unreachable(config *pgx.ConnConfig, err error) error {
	cause := err
	if connect := new(pgconn.ConnectError); errors.As(err, &connect) {
		cause = connect.Unwrap()
	}
	reason := strings.Join(strings.Fields(cause.Error()), " ")
	return &memory.Error{
		Kind: memory.KindUnavailable, RetryAfter: sqlstore.RetryAfter,
		Err: &refusal{
			text: fmt.Sprintf(
				"Postgres at %s:%d cannot be used: %s; check that it runs there and that the database URL is right",
				config.Host, config.Port, reason),
			cause: err,
		},
	}
}

// refusal is an error with its own text, and a cause for errors.Is.
type refusal struct {
	text  string
	cause error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.cause }

// Driver returns the driver for a River client that works on the jobs of this
// database. It has connections of its own, up to four.
func (s *Store) Driver() riverdriver.Driver[pgx.Tx] { return riverpgxv5.New(s.jobPool) }

// Close closes every connection. It waits for those in use.
func (s *Store) Close() error {
	for _, pool := range []*pgxpool.Pool{s.jobPool, s.pool} {
		if pool != nil {
			pool.Close()
		}
	}
	return nil
}

// execAsync runs one statement in a transaction that commits without waiting for the
// disk. It is for bookkeeping whose loss in a crash of the database costs nothing:
// an unrecorded push is repeated, and an uncounted access is forgotten.
func (s *Store) execAsync(ctx context.Context, sql string, args ...any) error {
	return again(ctx, func() error {
		batch := &pgx.Batch{} // one implicit transaction, one round trip
		batch.Queue(asyncCommit)
		batch.Queue(sql, args...)
		return s.pool.SendBatch(ctx, batch).Close()
	})
}

// asyncCommit makes the transaction commit without waiting for the disk.
const asyncCommit = `SELECT set_config('synchronous_commit', 'off', true)`
