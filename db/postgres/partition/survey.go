package partition

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
)

// Size is how large a table is, as Postgres estimates it.
type Size struct {
	Table string
	Rows  int64
	Bytes int64 // with indexes
}

// known are the constraints that span users. The swap replaces them.
var known = map[string]bool{
	"turns_app_id_client_id_key":    true, // by the table turn_client_ids
	"candidates_turn_id_fkey":       true, // by one with the owner
	"memory_relations_from_id_fkey": true, // by a trigger
	"memory_relations_to_id_fkey":   true,
	"reembeddings_memory_id_fkey":   true,
}

// Look returns the sizes of the tables that a conversion would copy. KindConflict: the
// tables are partitioned, or this version does not know one of their constraints.
func Look(ctx context.Context, conn *pgx.Conn) (sizes []Size, err error) {
	done, err := Done(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("look whether the tables are partitioned: %w", err)
	}
	if done {
		return nil, memory.Errorf(memory.KindConflict, "the tables are partitioned")
	}
	for _, t := range tables {
		spanning, err := texts(ctx, conn, `
			SELECT conname FROM pg_constraint WHERE confrelid = $1::regclass OR (conrelid = $1::regclass AND contype = 'f')
			UNION ALL SELECT indexrelid::regclass::text FROM pg_index
			WHERE indrelid = $1::regclass AND indisunique AND NOT indisprimary AND 2 > (
				SELECT count(*) FROM pg_attribute
				WHERE attrelid = indrelid AND attnum = ANY(indkey) AND attname IN ('app_id', 'user_id'))`, t.name)
		if err != nil {
			return nil, fmt.Errorf("read the constraints of %s: %w", t.name, err)
		}
		for _, name := range spanning {
			if !known[name] {
				return nil, memory.Errorf(memory.KindConflict,
					"%s has the constraint %s, which holds for the rows of several users and which this version does not know: "+
						"convert with the version that made it", t.name, name)
			}
		}
		size := Size{Table: t.name}
		err = conn.QueryRow(ctx, `SELECT greatest(reltuples, 0)::bigint, pg_total_relation_size(oid)
			FROM pg_class WHERE oid = $1::regclass`, t.name).Scan(&size.Rows, &size.Bytes)
		if err != nil {
			return nil, fmt.Errorf("read the size of %s: %w", t.name, err)
		}
		sizes = append(sizes, size)
	}
	return sizes, nil
}

// querier is what a connection and a transaction have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// texts returns the rows of a query of one text.
func texts(ctx context.Context, q querier, sql string, args ...any) ([]string, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func firstLine(sql string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(sql), "\n")
	return line
}
