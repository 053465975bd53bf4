package partition

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// swap drops the tables and gives their names to the twins, in one transaction. The tables that refer to them are
// locked at the same time, within the time of one wait.
func (c *conversion) swap(ctx context.Context, tx pgx.Tx) error {
	names := []string{"candidates", "memory_relations", "reembeddings"}
	for _, t := range tables {
		names = append(names, t.name)
	}
	statements, err := c.replacements(ctx, tx)
	if err != nil {
		return err
	}
	locked := append([]string{
		fmt.Sprintf(`SET LOCAL statement_timeout = %d`, c.LockWait.Milliseconds()),
		`LOCK TABLE ` + strings.Join(names, ", ") + ` IN ACCESS EXCLUSIVE MODE`,
		`SET LOCAL statement_timeout = 0`,
	}, statements...)
	for _, sql := range locked {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", firstLine(sql), err)
		}
	}
	return nil
}

// replacements returns the statements of the swap.
func (c *conversion) replacements(ctx context.Context, tx pgx.Tx) (statements []string, err error) {
	add := func(sql string, args ...any) { statements = append(statements, fmt.Sprintf(sql, args...)) }
	collect := func(sql string, args ...any) (found []string) {
		if err == nil {
			found, err = texts(ctx, tx, sql, args...)
		}
		return found
	}
	var triggers []string
	for _, t := range tables {
		statements = append(statements, collect(
			`SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint
			WHERE confrelid = $1::regclass`, t.name)...)
		triggers = append(triggers, collect(
			`SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal AND tgname <> $2`,
			t.name, t.captureFunction())...)
		// Extended statistics have been copied in the order in which they were made.
		statistics := collect(`SELECT format('ALTER STATISTICS %I RENAME TO %I', copy.stxname, original.stxname)
			FROM (SELECT stxname, row_number() OVER (ORDER BY oid) AS n FROM pg_statistic_ext
				WHERE stxrelid = $1::regclass) AS original
			JOIN (SELECT stxname, row_number() OVER (ORDER BY oid) AS n FROM pg_statistic_ext
				WHERE stxrelid = $2::regclass) AS copy USING (n)`, t.name, t.twin())
		add(`DROP TABLE %s`, t.name)
		add(`DROP FUNCTION %s`, t.captureFunction())
		add(`ALTER TABLE %s RENAME TO %s`, t.twin(), t.name)
		statements = append(statements, statistics...)
		statements = append(statements, collect(
			`SELECT format('ALTER INDEX %s RENAME TO %I', indexrelid::regclass, replace(indexrelid::regclass::text, $2, ''))
			FROM pg_index WHERE indrelid = $1::regclass`, t.twin(), suffix)...)
	}
	statements = append(statements, triggers...)
	statements = append(statements,
		fmt.Sprintf(`ALTER INDEX %s RENAME TO %s`, clientIDKey+suffix, clientIDKey),
		`ALTER TABLE candidates ADD CONSTRAINT candidates_turn_id_fkey FOREIGN KEY (turn_id, app_id, user_id)
			REFERENCES turns (id, app_id, user_id) ON DELETE CASCADE NOT VALID`,
		// These tables do not have the owner, which a foreign key would need.
		`CREATE FUNCTION delete_with_memory() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			-- A memory of a merged user is deleted from one partition and inserted into another.
			IF current_setting('hippocampus.moving', true) IS DISTINCT FROM 'on' THEN
				DELETE FROM memory_relations WHERE from_id = OLD.id OR to_id = OLD.id;
				DELETE FROM reembeddings WHERE memory_id = OLD.id;
			END IF;
			RETURN NULL;
		END $$`,
		`CREATE TRIGGER delete_with_memory AFTER DELETE ON agent_memories FOR EACH ROW EXECUTE FUNCTION delete_with_memory()`,
		`DROP TABLE partitioning`)
	if err != nil {
		return nil, fmt.Errorf("read what belongs to the tables: %w", err)
	}
	return statements, nil
}

// Cancel removes what a conversion that has not ended has made.
func Cancel(ctx context.Context, conn *pgx.Conn, o Options) error {
	c, err := begin(ctx, conn, o)
	if err != nil {
		return err
	}
	defer c.end(ctx)
	for _, t := range tables {
		err := c.withLocks(ctx, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, fmt.Sprintf(`DROP TRIGGER IF EXISTS %[1]s ON %[2]s; DROP FUNCTION IF EXISTS %[1]s`,
				t.captureFunction(), t.name))
			return err
		})
		if err != nil {
			return fmt.Errorf("drop the trigger of %s: %w", t.name, err)
		}
	}
	for _, t := range tables {
		for i := range MaxPartitions {
			if err := c.exec(ctx, `DROP TABLE IF EXISTS `+t.partition(i)); err != nil {
				return err
			}
		}
		if err := c.exec(ctx, `DROP TABLE IF EXISTS `+t.twin()); err != nil {
			return err
		}
	}
	return c.exec(ctx, `DROP FUNCTION IF EXISTS keep_client_id`, `DROP TABLE IF EXISTS turn_client_ids`,
		`DROP TABLE IF EXISTS partitioning`)
}
