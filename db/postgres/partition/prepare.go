package partition

import (
	"context"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5"
)

// prepare makes the partitioned twin of a table as far as it does not exist. The indexes
// come first and the partitions one by one, so that no transaction needs many locks.
func (c *conversion) prepare(ctx context.Context, t table) error {
	indexes, err := texts(ctx, c.conn, `SELECT pg_get_indexdef(indexrelid) FROM pg_index
		WHERE indrelid = $1::regclass AND NOT indisprimary AND indexrelid::regclass::text <> ALL($2)`,
		t.name, []string{clientIDKey})
	if err != nil {
		return fmt.Errorf("read the indexes of %s: %w", t.name, err)
	}
	statements := []string{fmt.Sprintf(
		`CREATE TABLE IF NOT EXISTS %[1]s%[2]s (LIKE %[1]s INCLUDING ALL EXCLUDING INDEXES,
		CONSTRAINT %[1]s_pkey%[2]s PRIMARY KEY (%[3]s, app_id, user_id)) PARTITION BY HASH (app_id, user_id)`,
		t.name, suffix, t.key)}
	for _, definition := range indexes {
		statements = append(statements, onTwin(definition, t))
	}
	if t.name == "turns" {
		statements = append(statements, clientIDs...)
	}
	if err := c.exec(ctx, statements...); err != nil {
		return err
	}
	for i := range c.Partitions {
		if err := c.addPartition(ctx, t, i); err != nil {
			return fmt.Errorf("add a partition to %s: %w", t.twin(), err)
		}
	}
	return nil
}

var indexHead = regexp.MustCompile(`^CREATE (UNIQUE )?INDEX (\S+) ON (\S+) USING`)

// onTwin returns the definition of an index with the twin in place of the table.
func onTwin(definition string, t table) string {
	return indexHead.ReplaceAllString(definition, `CREATE ${1}INDEX IF NOT EXISTS ${2}`+suffix+` ON `+t.twin()+` USING`)
}

func (c *conversion) addPartition(ctx context.Context, t table, i int) error {
	return pgx.BeginFunc(ctx, c.conn, func(tx pgx.Tx) error {
		var exists bool
		var options string
		err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL, coalesce(array_to_string(reloptions, ', '), '')
			FROM pg_class WHERE oid = $2::regclass`, t.partition(i), t.name).Scan(&exists, &options)
		if err != nil || exists {
			return err
		}
		if options != "" {
			options = ` WITH (` + options + `)`
		}
		// LIKE copies the extended statistics, which PARTITION OF does not.
		_, err = tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %[1]s (LIKE %[2]s INCLUDING ALL EXCLUDING INDEXES)%[3]s;
			ALTER TABLE %[4]s ATTACH PARTITION %[1]s FOR VALUES WITH (MODULUS %[5]d, REMAINDER %[6]d)`,
			t.partition(i), t.name, options, t.twin(), c.Partitions, i))
		return err
	})
}

// clientIDKey is the name of the constraint that a client id is used once in an app. It
// spans users, so that partitions cannot have it. The store knows the error by this name.
const clientIDKey = "turns_app_id_client_id_key"

// clientIDs keeps the client ids of all turns in a table of their own.
var clientIDs = []string{
	`CREATE INDEX IF NOT EXISTS turns_by_client_id` + suffix + ` ON turns` + suffix + ` (app_id, client_id)
		WHERE client_id IS NOT NULL`,
	`CREATE TABLE IF NOT EXISTS turn_client_ids (
		app_id    text COLLATE "C" NOT NULL,
		client_id text COLLATE "C" NOT NULL,
		CONSTRAINT ` + clientIDKey + suffix + ` PRIMARY KEY (app_id, client_id))`,
	`CREATE OR REPLACE FUNCTION keep_client_id() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF TG_OP = 'DELETE' THEN
			DELETE FROM turn_client_ids WHERE app_id = OLD.app_id AND client_id = OLD.client_id;
		ELSIF NEW.client_id IS NOT NULL THEN
			INSERT INTO turn_client_ids (app_id, client_id) VALUES (NEW.app_id, NEW.client_id);
		END IF;
		RETURN NULL;
	END $$`,
	`DROP TRIGGER IF EXISTS keep_client_id ON turns` + suffix,
	`CREATE TRIGGER keep_client_id AFTER INSERT OR DELETE ON turns` + suffix + `
		FOR EACH ROW EXECUTE FUNCTION keep_client_id()`,
}
