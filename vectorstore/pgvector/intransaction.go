package pgvector

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// InTransaction writes the vectors of memories in the transaction that writes
// the memories (see postgres.Vectors):
//
//	memories, ids -> statements of the batch that ends the transaction
type InTransaction struct{}

// transactionsKey is the key of the advisory lock that transactions which write
// vectors share and a rebuild holds exclusively.
const transactionsKey = `hashtextextended('hippocampus vectors ' || current_schema(), 0)`

// Ready queues a query whether the transaction may write vectors. It may not
// during a rebuild, which would miss them. A rebuild that begins later waits for
// the transaction.
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
