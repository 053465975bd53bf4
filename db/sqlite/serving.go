package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const servingColumns = `model, dim, target_model, target_dim, former_model, former_dim, copied_at, changed_at, held_until`

func servingFields(s *db.ServingState) []any {
	return []any{
		&s.Serving.Model, &s.Serving.Dim, &s.Target.Model, &s.Target.Dim, &s.Previous.Model, &s.Previous.Dim,
		(*instant)(&s.CopiedAt), (*instant)(&s.ChangedAt), (*instant)(&s.HeldUntil),
	}
}

// ServingState returns which space serves, and which is to.
func (s *Store) ServingState(ctx context.Context) (db.ServingState, error) {
	state, err := one(ctx, s.reader, servingFields, `SELECT `+servingColumns+` FROM serving`)
	if errors.Is(err, sql.ErrNoRows) {
		return state, nil
	}
	return state, fault(err, "read which embedding model serves")
}

// SetTarget makes a space the target.
func (s *Store) SetTarget(ctx context.Context, target memory.Space, at time.Time) (db.ServingState, error) {
	state, err := one(ctx, s.writer, servingFields, `
		INSERT INTO serving (one, model, dim, target_model, target_dim, changed_at) VALUES (1, ?1, ?2, ?1, ?2, ?3)
		ON CONFLICT (one) DO UPDATE SET target_model = ?1, target_dim = ?2
		RETURNING `+servingColumns, target.Model, target.Dim, moment(at))
	return state, fault(err, "note the embedding model that is wanted")
}

// HoldReembedding makes holder the only one who re-embeds.
func (s *Store) HoldReembedding(ctx context.Context, holder string, now, until time.Time) (bool, error) {
	result, err := s.exec(ctx, `
		UPDATE serving SET holder = ?1, held_until = ?3 WHERE holder = ?1 OR held_until IS NULL OR held_until <= ?2`,
		holder, moment(now), moment(until))
	if err != nil {
		return false, fault(err, "take the re-embedding over")
	}
	return affected(result) > 0, nil
}

// ChangeOver makes the target serve.
func (s *Store) ChangeOver(ctx context.Context, to memory.Space, copied, at time.Time) error {
	result, err := s.exec(ctx, `
		UPDATE serving SET former_model = model, former_dim = dim, model = ?1, dim = ?2, copied_at = ?3, changed_at = ?4
		WHERE target_model = ?1 AND target_dim = ?2 AND former_model = '' AND (model, dim) <> (?1, ?2)`,
		to.Model, to.Dim, moment(copied), moment(at))
	if err != nil {
		return fault(err, "change the embedding model over")
	}
	if affected(result) == 0 {
		return memory.Errorf(memory.KindConflict, "the embedding model %s is not the one that is to serve next", to.Model)
	}
	return nil
}

// DropPrevious notes that nothing is left of the space that served before.
func (s *Store) DropPrevious(ctx context.Context) error {
	_, err := s.exec(ctx, `UPDATE serving SET former_model = '', former_dim = 0`)
	return fault(err, "note that the former embedding model is gone")
}

// unembedded chooses active memories without an embedding of a space.
const unembedded = `status = 'active'
	AND (embedding_model = ?1 AND length(embedding) = 4 * ?2) IS NOT TRUE
	AND NOT EXISTS (SELECT 1 FROM reembeddings r WHERE r.memory_id = id AND r.model = ?1 AND length(r.embedding) = 4 * ?2)`

// Unembedded lists active memories without an embedding of the space.
func (s *Store) Unembedded(ctx context.Context, space memory.Space, after string, limit int) ([]memory.Memory, error) {
	found, err := collect(ctx, s.reader, memoryFields, `SELECT `+withoutVectors+` FROM agent_memories
		WHERE id > ?3 AND +`+unembedded+` ORDER BY id LIMIT ?4`, space.Model, space.Dim, after, limit)
	return found, fault(err, "read the memories to re-embed")
}

// CountUnembedded counts them.
func (s *Store) CountUnembedded(ctx context.Context, space memory.Space) (int, error) {
	n, err := one(ctx, s.reader, func(n *int) []any { return []any{n} },
		`SELECT count(*) FROM agent_memories WHERE `+unembedded, space.Model, space.Dim)
	return n, fault(err, "count the memories to re-embed")
}

// Reembed stores embeddings beside those in use.
func (s *Store) Reembed(ctx context.Context, space memory.Space, embeddings []db.Reembedding) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, `
			INSERT INTO reembeddings (memory_id, model, embedding)
			SELECT id, ?3, ?4 FROM agent_memories WHERE id = ?1 AND revision = ?2
			ON CONFLICT (memory_id) DO UPDATE SET model = excluded.model, embedding = excluded.embedding`,
			embeddings, func(e db.Reembedding) []any {
				return []any{e.ID, e.Revision, space.Model, rowcodec.VectorBytes(e.Embedding)}
			})
	})
	return fault(err, "store the new embeddings")
}

// SettleEmbeddings puts embeddings stored beside in the place of those in use.
func (s *Store) SettleEmbeddings(ctx context.Context, space memory.Space, limit int) (n int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		ids, err := collect(ctx, tx, func(id *string) []any { return []any{id} }, `
			SELECT memory_id FROM reembeddings WHERE model = ? AND length(embedding) = 4 * ?
			ORDER BY memory_id LIMIT ?`, space.Model, space.Dim, limit)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `
			UPDATE agent_memories SET embedding_model = ?1,
				embedding = (SELECT r.embedding FROM reembeddings r WHERE r.memory_id = agent_memories.id)
			WHERE id IN (SELECT value FROM json_each(?2))`, space.Model, list(ids)); err != nil {
			return err
		}
		n = len(ids)
		_, err = tx.ExecContext(ctx, `DELETE FROM reembeddings WHERE memory_id IN (SELECT value FROM json_each(?))`, list(ids))
		return err
	})
	return n, fault(err, "settle the new embeddings")
}
