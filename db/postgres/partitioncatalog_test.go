package postgres

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"hippocampus/db/postgres/partition"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// alteration has statements as later migrations may have them. Postgres applies them to the partitions.
const alteration = `
	ALTER TABLE agent_memories ADD COLUMN noted_at timestamptz;
	ALTER TABLE turns ADD COLUMN noted text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(noted) <= 9);
	CREATE INDEX agent_memories_noted ON agent_memories (app_id, user_id, noted_at) WHERE noted_at IS NOT NULL;
	DROP INDEX turns_by_status`

// The tables of the schema are partitioned, and then altered by the later migrations and by the alteration.
func TestMigrate_AltersPartitionedTables(t *testing.T) {
	t.Parallel()
	earlier := upToSchema(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := earlier.alone(ctx, func(conn *pgx.Conn) error {
		o := partition.Options{Partitions: 2, OnProgress: func(p partition.Progress) {
			if p.Step == "copy" {
				cancel()
			}
		}}
		return partition.Convert(ctx, conn, o)
	})
	if err == nil {
		t.Fatal("the conversion did not end early")
	}
	if err := earlier.Migrate(t.Context()); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("a migration of tables that are being partitioned: %v", err)
	}
	must(t, earlier.Partition(t.Context(), partition.Options{Partitions: 2}))
	must(t, earlier.Migrate(t.Context()))
	_, err = earlier.pool.Exec(t.Context(), alteration)
	must(t, err)

	present := migrated(t, postgrestest.URL(t))
	_, err = present.pool.Exec(t.Context(), alteration)
	must(t, err)
	must(t, present.Partition(t.Context(), partition.Options{Partitions: 2}))
	if diff := cmp.Diff(catalog(t, present), catalog(t, earlier)); diff != "" {
		t.Errorf("tables that were partitioned before they were migrated (-want +got):\n%s", diff)
	}
}

func TestPartition_CanBeCancelled(t *testing.T) {
	t.Parallel()
	s := migrated(t, postgrestest.URL(t))
	before := catalog(t, s)
	all := clients(t, s, 2, 10)
	crash(t, s, partition.Progress{Step: "copy", Table: "embeddings"})
	err := s.Partition(t.Context(), partition.Options{Partitions: 2})
	if !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("another number of partitions: %v", err)
	}
	must(t, s.CancelPartition(t.Context()))
	if after := catalog(t, s); !slices.Equal(before, after) {
		t.Errorf("the tables differ after a conversion was cancelled:\n%q\nbefore:\n%q", after, before)
	}
	must(t, s.Partition(t.Context(), partition.Options{Partitions: 2}))
	for _, u := range all {
		u.check(t)
	}
	if err := s.CancelPartition(t.Context()); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("cancel after the end: %v", err)
	}
	must(t, s.Partition(t.Context(), partition.Options{Partitions: 2})) // there is nothing to do
}

// catalog describes the columns, indexes, triggers and constraints of a schema, without
// those of partitions.
func catalog(t *testing.T, s *Store) []string {
	t.Helper()
	rows, _ := s.pool.Query(t.Context(), `
		WITH tables AS (SELECT oid FROM pg_class
			WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition)
		SELECT replace(text, current_schema() || '.', '') FROM (
			SELECT format('%s %s %s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
				attcollation, attstorage) AS text FROM pg_attribute JOIN tables ON tables.oid = attrelid
				WHERE attnum > 0 AND NOT attisdropped
			UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN tables ON tables.oid = indrelid
			UNION ALL SELECT pg_get_triggerdef(g.oid) FROM pg_trigger g JOIN tables ON tables.oid = tgrelid
				WHERE NOT tgisinternal
			UNION ALL SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(c.oid))
				FROM pg_constraint c JOIN tables ON tables.oid = conrelid
			UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
			UNION ALL SELECT stxname FROM pg_statistic_ext JOIN tables ON tables.oid = stxrelid
		) AS described ORDER BY 1`)
	described, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	return described
}
