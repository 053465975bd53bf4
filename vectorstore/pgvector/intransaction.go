package pgvector

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// InTransaction writes the vectors of memories in the transaction that writes
// the memories, by a connection of the database's (postgres.Vectors):
//
//	memories, ids -> statements of the batch that ends the transaction
type InTransaction struct{}

// transactionsKey names among the advisory locks of the database what
// transactions that write vectors share, and a rebuild takes alone.
const transactionsKey = `hashtextextended('hippocampus vectors ' || current_schema(), 0)`

// Ready queues whether vectors may be written in the transaction: not while a
// rebuild is under way, which would miss them. A rebuild that begins later
// waits for the transaction.
func (InTransaction) Ready(batch *pgx.Batch) *pgx.QueuedQuery {
	return batch.Queue(`SELECT pg_try_advisory_xact_lock_shared(` + transactionsKey + `)`)
}

// Takes reports whether the memory, in its embedding, can be written to the
// table of the space.
func (InTransaction) Takes(space memory.Space, m memory.Memory) bool {
	return m.EmbeddingModel == space.Model && vectorstore.CheckRecords(space, []vectorstore.Record{vectorstore.RecordOf(m)}) == nil
}

// Queue queues what makes the table of the space hold these memories, which it
// takes, and nothing under the other ids.
func (InTransaction) Queue(batch *pgx.Batch, space memory.Space, put []memory.Memory, gone []string) {
	table := tableName(space)
	for _, m := range put {
		batch.Queue(upsert(table), values(vectorstore.RecordOf(m))...)
	}
	if len(gone) > 0 {
		batch.Queue(remove(table), gone)
	}
}

// holdTransactions keeps transactions from writing vectors until release is
// called, having waited for those that do. Where another rebuild does so
// already, that is left to it: whichever ends first, the other one fails or is
// at its end.
func (s *Store) holdTransactions(ctx context.Context) (release func(), err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT set_config('lock_timeout', '5s', true)`)
	batch.Queue(`SELECT pg_advisory_lock(` + transactionsKey + `)`) // of the session: it outlives this transaction
	if err := conn.SendBatch(ctx, batch).Close(); err != nil && sqlState(err) != lockTimeout {
		conn.Release()
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_unlock(`+transactionsKey+`)`); err != nil {
			_ = conn.Conn().Close(ctx) // which gives the lock back, too
		}
		conn.Release()
	}, nil
}
