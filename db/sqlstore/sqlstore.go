// Package sqlstore holds the SQL that Postgres and SQLite share:
//
//	db.Store  <- sqlstore.Store, embedded in the adapter's Store
//	db.UserTx <- sqlstore.UserTx, embedded in the adapter's transaction
//	             each -> Querier (an adapter's pool or transaction)
//
// It serves the tables that are read and written seldom. The adapters keep
// their own SQL for accepting turns, recall, vectors and lists of memories.
//
// A new table costs one file here: its columns, the destinations of these
// columns, and the methods of db.Store and db.UserTx. Queries are constants in
// the SQL of Postgres, with numbered parameters; {a|b} stands for a on Postgres
// and for b on SQLite. Dialect makes the SQLite text from that and translates
// values: pass and scan plain times, lists and JSON; pass null(t) and
// nullID(id), and scan (*ID)(&id), where a column may be null.
//
// The plan tests of both adapters explain every query that dbtest.Exercise runs.
package sqlstore

import (
	"context"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Scan reads the columns of a row.
type Scan = func(dest ...any) error

// Querier runs statements.
type Querier interface {
	// Query calls row for each row of the result. An error of row ends the query.
	Query(ctx context.Context, sql string, args []any, row func(Scan) error) error
	// Exec runs a statement and returns how many rows it affected.
	Exec(ctx context.Context, sql string, args []any) (int, error)
	// ExecAll runs a statement once with each of the rows as its parameters, and
	// returns how many rows it affected in all.
	ExecAll(ctx context.Context, sql string, rows [][]any) (int, error)
}

// Tx is a transaction that writes.
type Tx interface {
	Querier
	// Enqueue stores jobs, which exist once the transaction has committed.
	Enqueue(ctx context.Context, jobs []river.InsertManyParams) error
}

// Database is what an adapter provides. As a Querier it reads with Query and
// commits each Exec.
type Database interface {
	Querier
	// Long is a Querier whose queries read much, and end with their contexts only.
	Long() Querier
	// Transact runs f in a transaction and commits it unless f returns an error.
	// f may run more than once.
	Transact(ctx context.Context, f func(tx Tx) error) error
	// Snapshot runs f on what was committed at one instant.
	Snapshot(ctx context.Context, f func(q Querier) error) error
	// InUser is db.Memories.InUser. The transaction embeds a UserTx.
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	// Fault gives a driver's error its memory.Kind; see the function Fault.
	Fault(err error, doing string) error
}

// Store implements the parts of db.Store that both databases share. Package db
// documents the methods.
type Store struct {
	conn
	db Database
}

var (
	_ db.Announcements  = (*Store)(nil)
	_ db.Bounds         = (*Store)(nil)
	_ db.Calibrations   = (*Store)(nil)
	_ db.Consolidations = (*Store)(nil)
	_ db.Conversations  = (*Store)(nil)
	_ db.Counts         = (*Store)(nil)
	_ db.Erasures       = (*Store)(nil)
	_ db.Exchange       = (*Store)(nil)
	_ db.Files          = (*Store)(nil)
	_ db.Instructions   = (*Store)(nil)
	_ db.Keys           = (*Store)(nil)
	_ db.Maintenance    = (*Store)(nil)
	_ db.Leases         = (*Store)(nil)
	_ db.Merges         = (*Store)(nil)
	_ db.Processes      = (*Store)(nil)
	_ db.Recalls        = (*Store)(nil)
	_ db.RefusedFields  = (*Store)(nil)
	_ db.Tokens         = (*Store)(nil)
	_ db.Related        = (*Store)(nil)
	_ db.Reprocessings  = (*Store)(nil)
	_ db.Serving        = (*Store)(nil)
	_ db.Skills         = (*Store)(nil)
	_ db.Timelines      = (*Store)(nil)
	_ db.UserJobs       = (*Store)(nil)
	_ db.Webhooks       = (*Store)(nil)

	_ db.AnnouncementTx  = (*UserTx)(nil)
	_ db.ConsolidationTx = (*UserTx)(nil)
	_ db.FileTx          = (*UserTx)(nil)
	_ db.MaintenanceTx   = (*UserTx)(nil)
	_ db.RelatedTx       = (*UserTx)(nil)
	_ db.ReprocessingTx  = (*UserTx)(nil)
	_ db.SkillTx         = (*UserTx)(nil)
	_ db.TimelineTx      = (*UserTx)(nil)
)

// New returns the shared parts of the store of a database.
func New(database Database, dialect Dialect) Store {
	return Store{conn: conn{database, dialect, database.Fault}, db: database}
}

// transact is Database.Transact, with the dialect.
func (s *Store) transact(ctx context.Context, f func(tx tx) error) error {
	return s.db.Transact(ctx, func(t Tx) error {
		return f(tx{conn{t, s.dialect, s.fault}, t.Enqueue})
	})
}

// long is the connection for queries over many users' rows.
func (s *Store) long() conn { return conn{s.db.Long(), s.dialect, s.fault} }

// tx is a Tx in the store's dialect.
type tx struct {
	conn
	enqueue func(ctx context.Context, jobs []river.InsertManyParams) error
}

// lock takes a lock on Postgres until the transaction ends. On SQLite a
// transaction that writes excludes all others.
func (t tx) lock(ctx context.Context, key int64) (err error) {
	if t.dialect == Postgres {
		_, err = t.exec(ctx, `SELECT pg_advisory_xact_lock($1)`, key)
	}
	return err
}

// lockShared takes locks that lock excludes, and that any number of transactions may hold.
func (t tx) lockShared(ctx context.Context, keys []int64) (err error) {
	if t.dialect == Postgres {
		_, err = t.exec(ctx, `SELECT pg_advisory_xact_lock_shared(key) FROM unnest($1::bigint[]) AS key`, keys)
	}
	return err
}
