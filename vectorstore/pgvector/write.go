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

// putAtOnce is how many records are written in one transaction and call: each
// is woven into the graph, which takes a millisecond and more.
const putAtOnce = 100

// Insert adds or replaces records.
func (w *writer) Insert(ctx context.Context, records []vectorstore.Record) error {
	return w.put(ctx, "inserting vectors", records)
}

// Replace adds or replaces records.
func (w *writer) Replace(ctx context.Context, records []vectorstore.Record) error {
	return w.put(ctx, "replacing vectors", records)
}

// Delete removes the records of these ids in one statement.
func (w *writer) Delete(ctx context.Context, ids []string) error {
	return w.call(ctx, "deleting vectors", func(ctx context.Context) error {
		_, err := w.pool.Exec(ctx, remove(w.table), vectorstore.StorableIDs(ids))
		return err
	})
}

func (w *writer) put(ctx context.Context, doing string, records []vectorstore.Record) error {
	if err := vectorstore.CheckRecords(w.space, records); err != nil {
		return err
	}
	// In the order of ids, so that two who write the same do not wait in a circle.
	records = slices.SortedFunc(slices.Values(records), func(a, b vectorstore.Record) int { return cmp.Compare(a.ID, b.ID) })
	for part := range slices.Chunk(records, putAtOnce) {
		err := w.call(ctx, doing, func(ctx context.Context) error {
			batch := &pgx.Batch{}
			for _, r := range part {
				batch.Queue(upsert(w.table), values(r)...)
			}
			return w.pool.SendBatch(ctx, batch).Close()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// upsert stores one record under its id. Embeddings go over as arrays of reals,
// which a column of vectors takes.
func upsert(table string) string {
	return `INSERT INTO ` + table + ` (id, app_id, user_id, agent_id, domain, memory_type, created_at, embedding, content)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8::real[], $9)
		ON CONFLICT (id) DO UPDATE SET app_id = excluded.app_id, user_id = excluded.user_id, agent_id = excluded.agent_id,
			domain = excluded.domain, memory_type = excluded.memory_type, created_at = excluded.created_at,
			embedding = excluded.embedding, content = excluded.content`
}

// values are those of upsert.
func values(r vectorstore.Record) []any {
	return []any{r.ID, r.AppID, r.UserID, r.AgentID, string(r.Domain), string(r.Type), r.CreatedAt.UnixMilli(), r.Embedding, r.Content}
}

func remove(table string) string { return `DELETE FROM ` + table + ` WHERE id = ANY($1::text[])` }
