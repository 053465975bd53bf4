package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// claim takes the rows that `mine` has locked. A row that changed while the statement
// waited for its lock is returned as changed, but the statement reads other tables as
// they were before.
const claim = `
	UPDATE agent_memories SET vector_claimed_until = $2, vector_claims = vector_claims + 1, vector_again = false
	FROM mine WHERE agent_memories.id = mine.locked AND app_id = mine.app AND user_id = mine.usr
	RETURNING ` + withoutVectors + `,
		vector_state = 'removing', vector_claims, vector_attempts`

func (s *Store) ClaimVectors(ctx context.Context, ids []string, now, until time.Time) ([]db.VectorTask, error) {
	return s.claimed(ctx, `
		WITH mine AS (
			SELECT id AS locked, app_id AS app, user_id AS usr FROM agent_memories
			WHERE id = `+among+` AND vector_state IN ('pending', 'removing')
				AND (vector_claimed_until IS NULL OR vector_claimed_until <= $1)
			ORDER BY id FOR UPDATE)`+claim, now, until, onlyIDs(ids))
}

func (s *Store) ClaimDueVectors(ctx context.Context, now, until time.Time, limit int) ([]db.VectorTask, error) {
	return s.claimed(ctx, `
		WITH mine AS (
			SELECT id AS locked, app_id AS app, user_id AS usr FROM agent_memories
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
				err = row.Scan(append(memoryFields(&t.Memory), &t.Remove, &t.Claim, &t.Attempts)...)
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
	places := make(map[string]*memory.Memory, len(tasks))
	for i := range tasks {
		if !tasks[i].Remove {
			places[tasks[i].Memory.ID] = &tasks[i].Memory
		}
	}
	if len(places) == 0 {
		return nil
	}
	pushed := slices.Collect(maps.Values(places))
	rows, err := q.Query(ctx, `SELECT e.memory_id, e.embedding, coalesce(r.model, ''), r.embedding
		FROM unnest($1::uuid[], $2::text[], $3::text[]) AS pushed (id, app_id, user_id)
		JOIN embeddings e ON e.memory_id = pushed.id AND e.app_id = pushed.app_id AND e.user_id = pushed.user_id
		LEFT JOIN reembeddings r ON r.memory_id = e.memory_id`,
		column(pushed, func(m *memory.Memory) string { return m.ID }),
		column(pushed, func(m *memory.Memory) string { return m.AppID }),
		column(pushed, func(m *memory.Memory) string { return m.UserID }))
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

// holds reports whether the claim of a push is the last one of its row. Another
// pusher claims a row whose claim has ended, such as the claim of a server that stood still, or whose clock is behind.
const holds = `(m.vector_claims = done.claim)`

// settles reports whether the confirmed push of a row is up to date. A row that has
// changed, was requeued or was claimed by another pusher is pushed again even if that
// has been done since: the older push may have arrived after the newer one.
const settles = `(` + holds + ` AND m.revision = done.revision AND NOT m.vector_again AND serves)`

// finish ends claims. It locks the rows in the order of their ids, so that two batches
// do not deadlock.
const finish = `
	WITH space AS MATERIALIZED (
		SELECT $5 = '' OR NOT EXISTS (SELECT 1 FROM serving)
			OR EXISTS (SELECT 1 FROM serving WHERE model = $5 AND dim = $6) AS serves
	), done AS (
		SELECT m.id, m.app_id, m.user_id, done.revision, removed, claim
		FROM unnest($1::uuid[], $2::bigint[], $3::boolean[], $7::text[], $8::text[], $9::bigint[])
			AS done (id, revision, removed, app_id, user_id, claim)
		JOIN agent_memories m USING (id, app_id, user_id)
		ORDER BY m.id FOR NO KEY UPDATE OF m
	)
	UPDATE agent_memories m SET
		vector_claimed_until = CASE WHEN NOT ` + holds + ` THEN m.vector_claimed_until END,
		vector_again = NOT ` + holds + ` AND m.vector_claimed_until IS NOT NULL,
		vector_state = CASE
			WHEN ` + settles + ` THEN CASE WHEN done.removed THEN 'absent' ELSE 'synced' END
			WHEN m.status = 'active' AND m.embedding_model <> '' THEN 'pending' ELSE 'removing' END,
		vector_attempts = CASE WHEN ` + settles + ` THEN 0 ELSE m.vector_attempts END,
		vector_synced_at = CASE WHEN ` + settles + ` THEN $4 ELSE m.vector_synced_at END,
		vector_since = CASE WHEN ` + settles + ` THEN m.vector_since ELSE $4 END,
		vector_due = CASE WHEN ` + settles + ` THEN m.vector_due ELSE $4 END
	FROM done, space
	WHERE m.id = done.id AND m.app_id = done.app_id AND m.user_id = done.user_id`

func (s *Store) FinishVectors(ctx context.Context, done []db.VectorTask, at time.Time) error {
	if len(done) == 0 {
		return nil
	}
	ids := column(done, func(t db.VectorTask) string { return t.Memory.ID })
	revisions := column(done, func(t db.VectorTask) int64 { return t.Memory.Revision })
	removed := column(done, func(t db.VectorTask) bool { return t.Remove })
	into := done[0].Into
	apps := column(done, func(t db.VectorTask) string { return t.Memory.AppID })
	users := column(done, func(t db.VectorTask) string { return t.Memory.UserID })
	claims := column(done, func(t db.VectorTask) int { return t.Claim })
	err := s.execAsync(ctx, finish, ids, revisions, removed, at, into.Model, into.Dim, apps, users, claims)
	return fault(err, "record confirmed pushes")
}

func (s *Store) RetryVectors(ctx context.Context, retries []db.VectorRetry) error {
	ids := column(retries, func(r db.VectorRetry) string { return r.ID })
	due := column(retries, func(r db.VectorRetry) time.Time { return r.Due })
	claims := column(retries, func(r db.VectorRetry) int { return r.Claim })
	err := s.execAsync(ctx, `
		WITH done AS (
			SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::bigint[]) AS t (id, due, claim)
		), locked AS (
			SELECT id, app_id, user_id FROM agent_memories WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE
		)
		UPDATE agent_memories m
		SET vector_claimed_until = CASE WHEN NOT `+holds+` THEN m.vector_claimed_until END,
			vector_again = m.vector_again OR NOT `+holds+` AND m.vector_claimed_until IS NOT NULL,
			vector_attempts = m.vector_attempts + CASE WHEN `+holds+` THEN 1 ELSE 0 END,
			vector_state = CASE WHEN m.status = 'active' AND m.embedding_model <> '' THEN 'pending' ELSE 'removing' END,
			vector_since = CASE WHEN m.vector_state IN ('pending', 'removing') THEN m.vector_since ELSE done.due END,
			vector_due = done.due
		FROM done JOIN locked USING (id)
		WHERE m.id = done.id AND m.app_id = locked.app_id AND m.user_id = locked.user_id
			AND (m.vector_state IN ('pending', 'removing') OR NOT `+holds+`)`, ids, due, claims)
	return fault(err, "put off failed pushes")
}
