package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// claim takes the rows that `mine` has locked. It counts claims to know the first
// one. A row that changed while the statement waited for its lock is returned as
// changed, but the statement reads other tables as they were before.
const claim = `
	UPDATE agent_memories SET vector_claimed_until = $2, vector_claims = vector_claims + 1, vector_again = false
	FROM mine WHERE agent_memories.id = mine.locked
	RETURNING ` + withoutVectors + `,
		vector_state = 'removing', vector_claims = 1, vector_attempts`

func (s *Store) ClaimVectors(ctx context.Context, ids []string, now, until time.Time) ([]db.VectorTask, error) {
	return s.claimed(ctx, `
		WITH mine AS (
			SELECT id AS locked FROM agent_memories
			WHERE id = `+among+` AND vector_state IN ('pending', 'removing')
				AND (vector_claimed_until IS NULL OR vector_claimed_until <= $1)
			ORDER BY id FOR UPDATE)`+claim, now, until, onlyIDs(ids))
}

func (s *Store) ClaimDueVectors(ctx context.Context, now, until time.Time, limit int) ([]db.VectorTask, error) {
	return s.claimed(ctx, `
		WITH mine AS (
			SELECT id AS locked FROM agent_memories
			WHERE vector_state IN ('pending', 'removing') AND vector_due <= $1
				AND (vector_claimed_until IS NULL OR vector_claimed_until <= $1)
			ORDER BY vector_due LIMIT $3 FOR UPDATE SKIP LOCKED)`+claim, now, until, limit)
}

func (s *Store) claimed(ctx context.Context, sql string, args ...any) ([]db.VectorTask, error) {
	var tasks []db.VectorTask
	err := again(ctx, func() error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
			rows, _ := tx.Query(ctx, sql, args...)
			tasks, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t db.VectorTask, err error) {
				err = row.Scan(append(memoryFields(&t.Memory), &t.Remove, &t.First, &t.Attempts)...)
				return t, err
			})
			if err != nil {
				return err
			}
			return readEmbeddings(ctx, tx, tasks)
		})
	})
	return tasks, fault(err, "claim pushes to the vector store")
}

// readEmbeddings reads the embeddings of the memories that are to be pushed.
func readEmbeddings(ctx context.Context, q querier, tasks []db.VectorTask) error {
	var ids []string
	places := make(map[string]*memory.Memory, len(tasks))
	for i := range tasks {
		if m := &tasks[i].Memory; !tasks[i].Remove {
			ids, places[m.ID] = append(ids, m.ID), m
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := q.Query(ctx, `SELECT e.memory_id, e.embedding, coalesce(r.model, ''), r.embedding
		FROM embeddings e LEFT JOIN reembeddings r ON r.memory_id = e.memory_id WHERE e.memory_id = `+amongFirst, ids)
	if err != nil {
		return err
	}
	var id, model string
	var embedding, reembedding vector
	_, err = pgx.ForEachRow(rows, []any{&id, &embedding, &model, &reembedding}, func() error {
		m := places[id]
		m.Embedding = embedding
		m.OtherModel, m.OtherEmbedding = model, reembedding
		return nil
	})
	return err
}

// settles reports whether the confirmed push of a row is up to date. A row that has
// changed or was requeued is pushed again even if that has been done since: the
// older push may have arrived after the newer one.
const settles = `(m.revision = done.revision AND NOT m.vector_again AND serves)`

// finish ends claims. The index that finds the rows changes them in the order of
// their ids, so that two batches rarely wait for each other.
const finish = `
	WITH space AS MATERIALIZED (
		SELECT $5 = '' OR NOT EXISTS (SELECT 1 FROM serving)
			OR EXISTS (SELECT 1 FROM serving WHERE model = $5 AND dim = $6) AS serves
	)
	UPDATE agent_memories m SET
		vector_claimed_until = NULL,
		vector_again = false,
		vector_state = CASE
			WHEN ` + settles + ` THEN CASE WHEN done.removed THEN 'absent' ELSE 'synced' END
			WHEN m.status = 'active' THEN 'pending' ELSE 'removing' END,
		vector_attempts = CASE WHEN ` + settles + ` THEN 0 ELSE m.vector_attempts END,
		vector_synced_at = CASE WHEN ` + settles + ` THEN $4 ELSE m.vector_synced_at END,
		vector_since = CASE WHEN ` + settles + ` THEN m.vector_since ELSE $4 END,
		vector_due = CASE WHEN ` + settles + ` THEN m.vector_due ELSE $4 END
	FROM unnest($1::uuid[], $2::bigint[], $3::boolean[]) AS done (id, revision, removed), space
	WHERE m.id = ANY($1::uuid[]) AND m.id = done.id`

func (s *Store) FinishVectors(ctx context.Context, done []db.VectorTask, at time.Time) error {
	if len(done) == 0 {
		return nil
	}
	done = slices.SortedFunc(slices.Values(done), func(a, b db.VectorTask) int {
		return cmp.Compare(a.Memory.ID, b.Memory.ID)
	})
	ids := column(done, func(t db.VectorTask) string { return t.Memory.ID })
	revisions := column(done, func(t db.VectorTask) int64 { return t.Memory.Revision })
	removed := column(done, func(t db.VectorTask) bool { return t.Remove })
	into := done[0].Into
	err := s.execAsync(ctx, finish, ids, revisions, removed, at, into.Model, into.Dim)
	return fault(err, "record confirmed pushes")
}

func (s *Store) RetryVectors(ctx context.Context, retries []db.VectorRetry) error {
	ids := column(retries, func(r db.VectorRetry) string { return r.ID })
	due := column(retries, func(r db.VectorRetry) time.Time { return r.Due })
	err := s.execAsync(ctx, `
		WITH retries AS (
			SELECT * FROM unnest($1::uuid[], $2::timestamptz[]) AS t (id, due)
		), locked AS (
			SELECT id FROM agent_memories WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE
		)
		UPDATE agent_memories m
		SET vector_claimed_until = NULL, vector_attempts = m.vector_attempts + 1, vector_due = r.due
		FROM retries r JOIN locked USING (id)
		WHERE m.id = r.id AND m.vector_state IN ('pending', 'removing')`, ids, due)
	return fault(err, "put off failed pushes")
}
