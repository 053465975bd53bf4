// Package partition converts the largest tables of a database in use into tables that are
// partitioned by a hash of app and user:
//
//	survey  -> can this version convert the tables? how many rows?
//	prepare -> an empty partitioned twin of each table, with its indexes
//	capture -> triggers repeat each later change of a table in its twin
//	copy    -> the earlier rows, in the order of their ids, a batch at a time
//	swap    -> one short lock: the twins take the names of the tables
//
// Readers and writers go on during all of it. A conversion that ended early continues where it was: each step finds
// what has been made, and the table partitioning keeps how far the copy has come. See
// docs/decisions/0026-partitions-by-command.md.
package partition

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
)

// Limits of Options.Partitions.
const (
	MinPartitions = 2
	MaxPartitions = 256
)

// Options of a conversion.
type Options struct {
	Partitions int // MinPartitions to MaxPartitions
	Batch      int // rows that are copied, and locked against changes, at once; 0: 1,000
	// LockWait bounds each wait for a lock on the tables, during which later readers wait
	// too. After it the conversion lets them pass and tries again. 0: a second.
	LockWait time.Duration
	// OnProgress is called before each step and after each batch.
	OnProgress func(Progress)
}

// Progress is how far a conversion has come.
type Progress struct {
	Step     string // prepare, copy, analyze, swap or validate
	Table    string // of the steps prepare, copy and analyze
	Rows     int64  // copied so far
	Estimate int64  // of the rows of the table
}

// table is a table to be partitioned. Its rows belong to the owner in app_id and user_id.
type table struct {
	name string
	key  string // the column with the id, which has an index of its own
}

var tables = []table{
	{name: "agent_memories", key: "id"},
	{name: "embeddings", key: "memory_id"},
	{name: "memory_events", key: "id"},
	{name: "turns", key: "id"},
}

// suffix marks the names of a twin and its indexes until they replace those of the table.
const suffix = "_partitioned"

func (t table) twin() string            { return t.name + suffix }
func (t table) partition(i int) string  { return fmt.Sprintf("%s_p%03d", t.name, i) }
func (t table) captureFunction() string { return "repeat_change_of_" + t.name }

const (
	batchRows   = 1000
	lockWait    = time.Second
	lockRetries = 2 * time.Second // between two tries to lock the tables
)

// Convert partitions the tables in the schema of the connection, or goes on with a
// conversion that has begun. KindConflict: another process converts, the conversion that
// has begun has another number of partitions, or this version does not know a constraint
// of the tables.
func Convert(ctx context.Context, conn *pgx.Conn, o Options) error {
	if o.Partitions < MinPartitions || o.Partitions > MaxPartitions {
		return memory.Errorf(memory.KindInvalid, "the number of partitions is %d: give %d to %d",
			o.Partitions, MinPartitions, MaxPartitions)
	}
	c, err := begin(ctx, conn, o)
	if err != nil {
		return err
	}
	defer c.end(ctx)
	done, err := Done(ctx, conn)
	if err != nil {
		return err
	}
	if !done {
		if err := c.convert(ctx); err != nil {
			return err
		}
	}
	c.report(Progress{Step: "validate"})
	return c.exec(ctx, `ALTER TABLE candidates VALIDATE CONSTRAINT candidates_turn_id_fkey`)
}

// begin locks the conversion against other processes until end, or until the connection is closed.
func begin(ctx context.Context, conn *pgx.Conn, o Options) (*conversion, error) {
	if o.Batch == 0 {
		o.Batch = batchRows
	}
	if o.LockWait == 0 {
		o.LockWait = lockWait
	}
	if o.OnProgress == nil {
		o.OnProgress = func(Progress) {}
	}
	c := &conversion{conn: conn, Options: o}
	// Batches that a crash of the database undoes are copied again.
	const session = `SELECT set_config('synchronous_commit', 'off', false),
		set_config('client_min_messages', 'error', false),
		pg_try_advisory_lock(hashtextextended('hippocampus partition ' || current_schema(), 0))`
	var alone bool
	if err := conn.QueryRow(ctx, session).Scan(nil, nil, &alone); err != nil {
		return nil, fmt.Errorf("lock the conversion: %w", err)
	}
	if !alone {
		return nil, memory.Errorf(memory.KindConflict, "another process converts the tables: wait for its end")
	}
	return c, nil
}

// conversion is a conversion under way.
type conversion struct {
	Options
	conn *pgx.Conn
}

// end unlocks the conversion. Postgres would notice the end of the connection only a moment later, in which the next
// command would be refused.
func (c *conversion) end(ctx context.Context) {
	_, _ = c.conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock_all()`) // fails with the connection
}

func (c *conversion) convert(ctx context.Context) error {
	if _, err := Look(ctx, c.conn); err != nil {
		return err
	}
	if err := c.state(ctx); err != nil {
		return err
	}
	for _, t := range tables {
		c.report(Progress{Step: "prepare", Table: t.name})
		if err := c.prepare(ctx, t); err != nil {
			return err
		}
		if err := c.capture(ctx, t); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if err := c.copy(ctx, t); err != nil {
			return err
		}
	}
	for _, t := range tables {
		c.report(Progress{Step: "analyze", Table: t.name})
		if err := c.exec(ctx, `VACUUM (ANALYZE) `+t.twin()); err != nil {
			return err
		}
	}
	c.report(Progress{Step: "swap"})
	return c.withLocks(ctx, c.swap)
}

// state makes the table with the state of the conversion, unless there is one.
func (c *conversion) state(ctx context.Context) error {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	return pgx.BeginFunc(ctx, c.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS partitioning (
			name       text PRIMARY KEY,
			partitions integer NOT NULL,
			captured   boolean NOT NULL DEFAULT false, -- changes of the table are repeated in its twin
			-- the id of the last row that was copied
			copied     uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
			rows       bigint NOT NULL DEFAULT 0)`); err != nil {
			return fmt.Errorf("note the conversion: %w", err)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO partitioning (name, partitions)
			SELECT name, $2 FROM unnest($1::text[]) AS name ON CONFLICT DO NOTHING`, names, c.Partitions); err != nil {
			return fmt.Errorf("note the conversion: %w", err)
		}
		var partitions int
		err := tx.QueryRow(ctx, `SELECT max(partitions) FROM partitioning`).Scan(&partitions)
		if err == nil && partitions != c.Partitions {
			return memory.Errorf(memory.KindConflict,
				"a conversion to %d partitions has begun: finish it with that number, or cancel it first", partitions)
		}
		return err
	})
}

// Under reports whether a conversion has begun and not ended. The tables must not be
// altered then: the triggers expect that a table and its twin have the same columns.
func Under(ctx context.Context, conn *pgx.Conn) (under bool, err error) {
	err = conn.QueryRow(ctx, `SELECT to_regclass('partitioning') IS NOT NULL`).Scan(&under)
	return under, err
}

// Done reports whether the tables are partitioned.
func Done(ctx context.Context, conn *pgx.Conn) (done bool, err error) {
	err = conn.QueryRow(ctx, `SELECT `+IsDone).Scan(&done)
	return done, err
}

// IsDone is the condition in SQL that the tables are partitioned.
const IsDone = `EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('agent_memories') AND relkind = 'p')`

func (c *conversion) report(p Progress) { c.OnProgress(p) }

// exec runs statements in transactions of their own.
func (c *conversion) exec(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := c.conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", firstLine(sql), err)
		}
	}
	return nil
}
