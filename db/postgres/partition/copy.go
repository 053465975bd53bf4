package partition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// capture repeats each later change of a table in its twin. The lock of CREATE TRIGGER
// waits for the writers who would not run the trigger.
func (c *conversion) capture(ctx context.Context, t table) error {
	return c.withLocks(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var captured bool
		err := tx.QueryRow(ctx, `SELECT captured FROM partitioning WHERE name = $1`, t.name).Scan(&captured)
		if err != nil || captured {
			return err
		}
		_, err = tx.Exec(ctx, fmt.Sprintf(`
			CREATE OR REPLACE FUNCTION %[1]s() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN
				IF TG_OP <> 'INSERT' THEN
					DELETE FROM %[3]s WHERE %[4]s = OLD.%[4]s AND app_id = OLD.app_id AND user_id = OLD.user_id;
				END IF;
				IF TG_OP <> 'DELETE' THEN
					INSERT INTO %[3]s VALUES (NEW.*);
				END IF;
				RETURN NULL;
			END $$;
			CREATE TRIGGER %[1]s AFTER INSERT OR UPDATE OR DELETE ON %[2]s FOR EACH ROW EXECUTE FUNCTION %[1]s();
			UPDATE partitioning SET captured = true WHERE name = '%[2]s'`,
			t.captureFunction(), t.name, t.twin(), t.key))
		return err
	})
}

// copy copies the rows of a table that the triggers have not brought to the twin.
//
// Every writer of a row of the twin holds the lock of the same row of the table: the copy locks the rows of a batch,
// and a trigger runs after the change of its row. So the two never wait for each other in the twin, and no row that is
// being deleted is copied.
func (c *conversion) copy(ctx context.Context, t table) error {
	var p Progress
	err := c.conn.QueryRow(ctx, `SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = $1::regclass`, t.name).
		Scan(&p.Estimate)
	if err != nil {
		return fmt.Errorf("read the size of %s: %w", t.name, err)
	}
	p.Step, p.Table = "copy", t.name
	for more := true; more; {
		if more, p.Rows, err = c.copyBatch(ctx, t); err != nil {
			return fmt.Errorf("copy rows of %s: %w", t.name, err)
		}
		c.report(p)
	}
	return nil
}

// copyBatch copies the next rows. It returns how many the conversion has copied, and more
// is false if there were no further rows.
func (c *conversion) copyBatch(ctx context.Context, t table) (more bool, rows int64, err error) {
	err = again(ctx, func() error {
		return pgx.BeginFunc(ctx, c.conn, func(tx pgx.Tx) error {
			var before string
			var last *string
			// The end of the batch is found before its rows are locked, since some may be deleted until then.
			err := tx.QueryRow(ctx, `SELECT (SELECT max(key)::text FROM (
				SELECT `+t.key+`::text AS key FROM `+t.name+`
				WHERE `+t.key+` > p.copied ORDER BY `+t.key+` LIMIT $2) AS batch), copied, rows
				FROM partitioning p WHERE name = $1`, t.name, c.Batch).Scan(&last, &before, &rows)
			more = last != nil
			if err != nil || !more {
				return err
			}
			tag, err := tx.Exec(ctx, `WITH batch AS MATERIALIZED (SELECT * FROM `+t.name+`
					WHERE `+t.key+` > $1 AND `+t.key+` <= $2 ORDER BY `+t.key+` FOR NO KEY UPDATE)
				INSERT INTO `+t.twin()+` SELECT * FROM batch ON CONFLICT DO NOTHING`, before, *last)
			if err != nil {
				return err
			}
			rows += tag.RowsAffected()
			_, err = tx.Exec(ctx, `UPDATE partitioning SET copied = $2, rows = $3 WHERE name = $1`, t.name, *last, rows)
			return err
		})
	})
	return more, rows, err
}

// withLocks runs f in a transaction whose statements wait for locks no longer than
// LockWait. If one waits longer, withLocks lets the others pass and tries again, until the
// context ends.
func (c *conversion) withLocks(ctx context.Context, f func(ctx context.Context, tx pgx.Tx) error) error {
	return again(ctx, func() error {
		return pgx.BeginFunc(ctx, c.conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT set_config('lock_timeout', $1, true)`,
				fmt.Sprint(c.LockWait.Milliseconds())); err != nil {
				return err
			}
			return f(ctx, tx)
		})
	})
}

// again repeats a transaction that waited for a lock for too long, or that Postgres ended
// to resolve a deadlock.
func again(ctx context.Context, transaction func() error) error {
	for {
		err := transaction()
		var answered *pgconn.PgError
		if !errors.As(err, &answered) || !slices.Contains(repeatable, answered.Code) {
			return err
		}
		timer := time.NewTimer(lockRetries)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(ctx.Err(), err)
		}
	}
}

// repeatable are the SQLSTATEs of transactions that are worth repeating: the timeouts of a
// lock and of a statement, and a deadlock.
var repeatable = []string{"55P03", "57014", "40P01"}
