package pgvector

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hippocampus/vectorstore"
)

// writer writes to one table.
type writer struct {
	pool    *pgxpool.Pool
	space   vectorstore.Space
	table   string
	timeout time.Duration // of one call
}

// batchSize is how many records one transaction writes: adding a record to the
// HNSW index takes a millisecond or more.
const batchSize = 100

// Insert adds or replaces records.
func (w *writer) Insert(ctx context.Context, records []vectorstore.Record) error {
	return w.put(ctx, "inserting vectors", records)
}

// Replace adds or replaces records.
func (w *writer) Replace(ctx context.Context, records []vectorstore.Record) error {
	return w.put(ctx, "replacing vectors", records)
}

// Delete removes the records with these ids in one statement.
func (w *writer) Delete(ctx context.Context, ids []string) error {
	return w.call(ctx, "deleting vectors", func(ctx context.Context) error {
		_, err := w.pool.Exec(ctx, deleteSQL(w.table), vectorstore.StorableIDs(ids))
		return err
	})
}

func (w *writer) put(ctx context.Context, action string, records []vectorstore.Record) error {
	if err := vectorstore.CheckRecords(w.space, records); err != nil {
		return err
	}
	// Writing in the order of ids prevents deadlocks between writers of the same records.
	byID := func(a, b vectorstore.Record) int { return cmp.Compare(a.ID, b.ID) }
	records = slices.SortedFunc(slices.Values(records), byID)
	for part := range slices.Chunk(records, batchSize) {
		err := w.call(ctx, action, func(ctx context.Context) error {
			batch := &pgx.Batch{}
			for _, r := range part {
				batch.Queue(upsertSQL(w.table), upsertArgs(r)...)
			}
			return w.pool.SendBatch(ctx, batch).Close()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// upsertSQL stores one record under its id, in a table with or without the type vector.
func upsertSQL(table string) string {
	return `INSERT INTO ` + table + ` (id, app_id, user_id, agent_id, domain, memory_type, created_at, embedding, content)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (id) DO UPDATE SET app_id = excluded.app_id, user_id = excluded.user_id, agent_id = excluded.agent_id,
			domain = excluded.domain, memory_type = excluded.memory_type, created_at = excluded.created_at,
			embedding = excluded.embedding, content = excluded.content`
}

func upsertArgs(r vectorstore.Record) []any {
	return []any{
		r.ID, r.AppID, r.UserID, r.AgentID, string(r.Domain), string(r.Type),
		r.CreatedAt.UnixMilli(), argument(r.Embedding), r.Content,
	}
}

func deleteSQL(table string) string { return `DELETE FROM ` + table + ` WHERE id = ANY($1::text[])` }
