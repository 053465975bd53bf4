package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const servingColumns = `model, dim, target_model, target_dim, former_model, former_dim, copied_at, changed_at,
	held_until`

func servingFields(s *db.ServingState) []any {
	return []any{&s.Serving.Model, &s.Serving.Dim, &s.Target.Model, &s.Target.Dim, &s.Previous.Model, &s.Previous.Dim,
		&s.CopiedAt, &s.ChangedAt, &s.HeldUntil}
}

func (s *Store) ServingState(ctx context.Context) (db.ServingState, error) {
	state, _, err := first(ctx, s.conn, servingFields, `SELECT `+servingColumns+` FROM serving`)
	return state, s.fault(err, "read which embedding model serves")
}

func (s *Store) SetTarget(ctx context.Context, target memory.Space, at time.Time) (state db.ServingState, err error) {
	err = s.transact(ctx, func(tx tx) error {
		state, _, err = first(ctx, tx.conn, servingFields, `
			INSERT INTO serving ({|one, }model, dim, target_model, target_dim, changed_at) VALUES ({|1, }$1, $2, $1, $2, $3)
			ON CONFLICT (one) DO UPDATE SET target_model = $1, target_dim = $2
			RETURNING `+servingColumns, target.Model, target.Dim, at)
		return err
	})
	return state, s.fault(err, "note the embedding model that is wanted")
}

func (s *Store) HoldReembedding(ctx context.Context, holder string, now, until time.Time) (bool, error) {
	n, err := s.exec(ctx, `
		UPDATE serving SET holder = $1, held_until = $3 WHERE holder = $1 OR held_until IS NULL OR held_until <= $2`,
		holder, now, until)
	return n > 0, s.fault(err, "take the re-embedding over")
}

func (s *Store) ChangeOver(ctx context.Context, to memory.Space, copied, at time.Time) error {
	n, err := s.exec(ctx, `
		UPDATE serving SET former_model = model, former_dim = dim, model = $1, dim = $2, copied_at = $3, changed_at = $4
		WHERE target_model = $1 AND target_dim = $2 AND former_model = '' AND (model, dim) <> ($1, $2)`,
		to.Model, to.Dim, copied, at)
	return s.require(n > 0, err, "change the embedding model over",
		memory.Errorf(memory.KindConflict, "the embedding model %s is not the one that is to serve next", to.Model))
}

func (s *Store) DropPrevious(ctx context.Context) error {
	_, err := s.exec(ctx, `UPDATE serving SET former_model = '', former_dim = 0`)
	return s.fault(err, "note that the former embedding model is gone")
}

// unembedded chooses active memories without an embedding of a space.
const unembedded = `status = 'active' AND
	{NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.memory_id = id AND e.model = $1
	AND octet_length(e.embedding) = 4 * $2::integer)
	|(embedding_model = $1 AND length(embedding) = 4 * $2) IS NOT TRUE} AND NOT EXISTS (SELECT 1 FROM reembeddings AS r
		WHERE r.memory_id = id AND r.model = $1 AND {octet_|}length(r.embedding) = 4 * $2::integer)`

func (s *Store) Unembedded(ctx context.Context, space memory.Space, after string, limit int) ([]memory.Memory, error) {
	found, err := collect(ctx, s.long(), memoryFields, `SELECT `+memoryColumns+` FROM agent_memories
		WHERE id > $3 AND {|+}`+unembedded+` ORDER BY id LIMIT $4`, space.Model, space.Dim, orLeast(after), limit)
	return found, s.fault(err, "read the memories to re-embed")
}

func (s *Store) CountUnembedded(ctx context.Context, space memory.Space) (int, error) {
	n, _, err := first(ctx, s.long(), only[int], `SELECT count(*) FROM agent_memories WHERE `+unembedded,
		space.Model, space.Dim)
	return n, s.fault(err, "count the memories to re-embed")
}

func (s *Store) HasWordsOnly(ctx context.Context) (bool, error) {
	has, _, err := first(ctx, s.conn, only[bool], `SELECT EXISTS (
		SELECT 1 FROM agent_memories{| INDEXED BY agent_memories_words_only}
		WHERE status = 'active' AND embedding_model = '')`)
	return has, s.fault(err, "look for memories without an embedding")
}

// Reembed stores embeddings next to those in use. Each memory is locked against
// changes, in the order of their ids, so that no embedding of an earlier content
// is stored.
func (s *Store) Reembed(ctx context.Context, space memory.Space, embeddings []db.Reembedding) error {
	embeddings = slices.SortedFunc(slices.Values(embeddings), func(a, b db.Reembedding) int {
		return cmp.Compare(a.ID, b.ID)
	})
	rows := make([][]any, len(embeddings))
	for i, e := range embeddings {
		rows[i] = []any{e.ID, e.Revision, space.Model, rowcodec.VectorBytes(e.Embedding)}
	}
	err := s.transact(ctx, func(tx tx) error {
		_, err := tx.execAll(ctx, `
			INSERT INTO reembeddings (memory_id, model, embedding)
			SELECT id, $3::text, $4::bytea FROM agent_memories WHERE id = $1 AND revision = $2 {FOR SHARE|}
			ON CONFLICT (memory_id) DO UPDATE SET model = excluded.model, embedding = excluded.embedding`, rows)
		return err
	})
	return s.fault(err, "store the new embeddings")
}

func (s *Store) SettleEmbeddings(ctx context.Context, space memory.Space, limit int) (n int, err error) {
	err = s.transact(ctx, func(tx tx) error {
		ids, err := collect(ctx, tx.conn, only[string], `
			SELECT id FROM agent_memories WHERE id IN (
				SELECT memory_id FROM reembeddings WHERE model = $1 AND {octet_|}length(embedding) = 4 * $2::integer
				ORDER BY memory_id LIMIT $3) ORDER BY id {FOR UPDATE|}`, space.Model, space.Dim, limit)
		if err != nil || len(ids) == 0 {
			n = 0
			return err
		}
		if s.dialect == Postgres {
			_, err := tx.exec(ctx, `UPDATE embeddings AS e SET model = $1, embedding = r.embedding FROM reembeddings AS r
				WHERE r.memory_id = e.memory_id AND e.memory_id = ANY($2::uuid[])`, space.Model, ids)
			if err != nil {
				return err
			}
		}
		n, err = tx.exec(ctx, `UPDATE agent_memories AS m SET embedding_model = $1{|, embedding = r.embedding}
			FROM reembeddings AS r WHERE r.memory_id = m.id AND m.id = ANY($2::uuid[])`, space.Model, ids)
		if err == nil {
			_, err = tx.exec(ctx, `DELETE FROM reembeddings WHERE memory_id = ANY($1::uuid[])`, ids)
		}
		return err
	})
	return n, s.fault(err, "settle the new embeddings")
}
