package pgvector

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hippocampus/internal/memory"
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

// InTransaction writes the vectors of memories in the transaction that writes
// the memories (see postgres.Vectors):
//
//	memories, ids -> statements of the batch that ends the transaction
type InTransaction struct{}

// transactionsKey is the key of the advisory lock that transactions which write
// vectors share and a rebuild holds exclusively.
const transactionsKey = `hashtextextended('hippocampus vectors ' || current_schema(), 0)`

// Ready queues a query of whether the transaction may write vectors. It may not during a rebuild, since the rebuild
// would miss them. A rebuild that begins later waits for the transaction.
func (InTransaction) Ready(batch *pgx.Batch) *pgx.QueuedQuery {
	return batch.Queue(`SELECT pg_try_advisory_xact_lock_shared(` + transactionsKey + `)`)
}

// Takes reports whether the table of the space can hold the memory's embedding.
func (InTransaction) Takes(space memory.Space, m memory.Memory) bool {
	return m.EmbeddingModel == space.Model &&
		vectorstore.CheckRecords(space, []vectorstore.Record{vectorstore.RecordOf(m)}) == nil
}

// Queue queues statements that write these memories, which must pass Takes, to
// the table of the space and remove the records with the ids in gone.
func (InTransaction) Queue(batch *pgx.Batch, space memory.Space, put []memory.Memory, gone []string) {
	table := tableName(space)
	for _, m := range put {
		batch.Queue(upsertSQL(table), upsertArgs(vectorstore.RecordOf(m))...)
	}
	if len(gone) > 0 {
		batch.Queue(deleteSQL(table), gone)
	}
}

// blockTransactions waits for transactions that write vectors and blocks new
// ones until release is called. It succeeds without the lock if another rebuild
// holds it: when one of the two ends, the other fails or ends also.
func (s *Store) blockTransactions(ctx context.Context) (release func(), err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT set_config('lock_timeout', '5s', true)`)
	batch.Queue(`SELECT pg_advisory_lock(` + transactionsKey + `)`) // a session lock, which outlives this transaction
	if err := conn.SendBatch(ctx, batch).Close(); err != nil && sqlState(err) != lockTimeout {
		conn.Release()
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_unlock(`+transactionsKey+`)`); err != nil {
			_ = conn.Conn().Close(ctx) // which also releases the lock
		}
		conn.Release()
	}, nil
}
