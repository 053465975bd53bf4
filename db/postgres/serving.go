package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const servingColumns = `model, dim, target_model, target_dim, former_model, former_dim, copied_at, changed_at, held_until`

// ServingState returns which space serves, and which is to.
func (s *Store) ServingState(ctx context.Context) (db.ServingState, error) {
	states, err := s.serving(ctx, `SELECT `+servingColumns+` FROM serving`)
	if err != nil || len(states) == 0 {
		return db.ServingState{}, fault(err, "read which embedding model serves")
	}
	return states[0], nil
}

// SetTarget makes a space the target.
func (s *Store) SetTarget(ctx context.Context, target memory.Space, at time.Time) (db.ServingState, error) {
	states, err := s.serving(ctx, `
		INSERT INTO serving (model, dim, target_model, target_dim, changed_at) VALUES ($1, $2, $1, $2, $3)
		ON CONFLICT (one) DO UPDATE SET target_model = $1, target_dim = $2
		RETURNING `+servingColumns, target.Model, target.Dim, at)
	if err != nil {
		return db.ServingState{}, fault(err, "note the embedding model that is wanted")
	}
	return states[0], nil
}

func (s *Store) serving(ctx context.Context, sql string, args ...any) ([]db.ServingState, error) {
	rows, _ := s.pool.Query(ctx, sql, args...)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (st db.ServingState, err error) {
		var copied, held *time.Time
		err = row.Scan(&st.Serving.Model, &st.Serving.Dim, &st.Target.Model, &st.Target.Dim,
			&st.Previous.Model, &st.Previous.Dim, &copied, &st.ChangedAt, &held)
		st.CopiedAt, st.HeldUntil = orZero(copied), orZero(held)
		return st, err
	})
}

// HoldReembedding makes holder the only one who re-embeds.
func (s *Store) HoldReembedding(ctx context.Context, holder string, now, until time.Time) (bool, error) {
	tag, err := s.pool.Exec(ctx, `
		UPDATE serving SET holder = $1, held_until = $3 WHERE holder = $1 OR held_until IS NULL OR held_until <= $2`,
		holder, now, until)
	return tag.RowsAffected() > 0, fault(err, "take the re-embedding over")
}

// ChangeOver makes the target serve.
func (s *Store) ChangeOver(ctx context.Context, to memory.Space, copied, at time.Time) error {
	tag, err := s.pool.Exec(ctx, `
		UPDATE serving SET former_model = model, former_dim = dim, model = $1, dim = $2, copied_at = $3, changed_at = $4
		WHERE target_model = $1 AND target_dim = $2 AND former_model = '' AND (model, dim) <> ($1, $2)`,
		to.Model, to.Dim, copied, at)
	if err == nil && tag.RowsAffected() == 0 {
		return memory.Errorf(memory.KindConflict, "the embedding model %s is not the one that is to serve next", to.Model)
	}
	return fault(err, "change the embedding model over")
}

// DropPrevious notes that nothing is left of the space that served before.
func (s *Store) DropPrevious(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `UPDATE serving SET former_model = '', former_dim = 0`)
	return fault(err, "note that the former embedding model is gone")
}

// unembedded chooses active memories without an embedding of a space.
const unembedded = `status = 'active'
	AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.memory_id = id AND e.model = $1 AND octet_length(e.embedding) = 4 * $2::integer)
	AND NOT EXISTS (SELECT 1 FROM reembeddings r WHERE r.memory_id = id AND r.model = $1 AND octet_length(r.embedding) = 4 * $2::integer)`

// Unembedded lists active memories without an embedding of the space.
func (s *Store) Unembedded(ctx context.Context, space memory.Space, after string, limit int) ([]memory.Memory, error) {
	if after == "" {
		after = uuid.Nil.String()
	}
	found, err := memories(ctx, s.pool, `SELECT `+withoutVectors+` FROM agent_memories
		WHERE id > $3 AND `+unembedded+` ORDER BY id LIMIT $4`, space.Model, space.Dim, after, limit)
	return found, fault(err, "read the memories to re-embed")
}

// CountUnembedded counts them.
func (s *Store) CountUnembedded(ctx context.Context, space memory.Space) (n int, err error) {
	err = s.pool.QueryRow(ctx, `SELECT count(*) FROM agent_memories WHERE `+unembedded, space.Model, space.Dim).Scan(&n)
	return n, fault(err, "count the memories to re-embed")
}

// Reembed stores embeddings beside those in use. The rows are locked against
// changes, so that none is stored for a content of before.
func (s *Store) Reembed(ctx context.Context, space memory.Space, embeddings []db.Reembedding) error {
	ids, revisions, vectors := make([]string, len(embeddings)), make([]int64, len(embeddings)), make([][]byte, len(embeddings))
	for i, e := range embeddings {
		ids[i], revisions[i], vectors[i] = e.ID, e.Revision, rowcodec.VectorBytes(e.Embedding)
	}
	err := again(ctx, func() error {
		_, err := s.pool.Exec(ctx, `
			WITH fresh AS (
				SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) AS t (id, revision, embedding)
			), locked AS (
				SELECT id, revision FROM agent_memories WHERE id = ANY($1::uuid[]) ORDER BY id FOR SHARE
			)
			INSERT INTO reembeddings (memory_id, model, embedding)
			SELECT id, $4, embedding FROM fresh JOIN locked USING (id, revision)
			ON CONFLICT (memory_id) DO UPDATE SET model = excluded.model, embedding = excluded.embedding`,
			ids, revisions, vectors, space.Model)
		return err
	})
	return fault(err, "store the new embeddings")
}

// SettleEmbeddings puts embeddings stored beside in the place of those in use.
func (s *Store) SettleEmbeddings(ctx context.Context, space memory.Space, limit int) (int, error) {
	var tag pgconn.CommandTag
	err := again(ctx, func() (err error) {
		tag, err = s.pool.Exec(ctx, `
			WITH page AS (
				SELECT memory_id FROM reembeddings WHERE model = $1 AND octet_length(embedding) = 4 * $2::integer
				ORDER BY memory_id LIMIT $3
			), locked AS (
				SELECT id FROM agent_memories WHERE id IN (SELECT memory_id FROM page) ORDER BY id FOR UPDATE
			), moved AS (
				DELETE FROM reembeddings r USING locked WHERE r.memory_id = locked.id RETURNING r.memory_id, r.embedding
			), settled AS (
				UPDATE embeddings e SET model = $1, embedding = moved.embedding FROM moved WHERE e.memory_id = moved.memory_id
			)
			UPDATE agent_memories m SET embedding_model = $1 FROM moved WHERE m.id = moved.memory_id`,
			space.Model, space.Dim, limit)
		return err
	})
	return int(tag.RowsAffected()), fault(err, "settle the new embeddings")
}
