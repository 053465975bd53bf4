package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// The columns that scanMemory reads: all, or all but the embeddings, which are
// the largest part of a memory.
const (
	recordColumns = `id, app_id, user_id, agent_id, conversation_id, coalesce(source_turn_id::text, ''), speaker, asked,
		content, memory_type, domain, tags, importance_score, metadata, pinned, status, faded,
		coalesce(superseded_by::text, ''),
		created_at, last_said_at, expires_at, updated_at, last_accessed_at, access_count, `
	bareColumns    = recordColumns + `lexemes, embedding_model, revision, `
	memoryColumns  = bareColumns + itsEmbedding + `, ` + besideColumns
	withoutVectors = bareColumns + noVectors
	noVectors      = `NULL::bytea, '', NULL::bytea`
	// The first two parameters of the statement must be the owner.
	itsEmbedding  = `(SELECT embeddings.embedding FROM embeddings WHERE memory_id = id AND app_id = $1 AND user_id = $2)`
	besideColumns = `coalesce((SELECT model FROM reembeddings WHERE memory_id = id), ''),
		(SELECT reembeddings.embedding FROM reembeddings WHERE memory_id = id)`
)

func scanMemory(row pgx.CollectableRow) (m memory.Memory, err error) {
	err = row.Scan(memoryFields(&m)...)
	if len(m.Tags) == 0 {
		m.Tags = nil
	}
	return m, err
}

// memoryFields are the destinations of memoryColumns.
func memoryFields(m *memory.Memory) []any {
	return []any{
		&m.ID, &m.AppID, &m.UserID, &m.AgentID, &m.ConversationID, &m.SourceTurnID, &m.Speaker, &m.Asked, &m.Content,
		&m.Type, &m.Domain, &m.Tags, &m.Importance, &m.Metadata, &m.Pinned, &m.Status, &m.Faded, &m.SupersededBy,
		&m.CreatedAt, (*sqlstore.Instant)(&m.LastSaidAt), (*sqlstore.Instant)(&m.ExpiresAt), &m.UpdatedAt,
		&m.LastAccessedAt, &m.AccessCount, &m.Lexemes, &m.EmbeddingModel, &m.Revision,
		(*vector)(&m.Embedding), &m.OtherModel, (*vector)(&m.OtherEmbedding),
	}
}

// vector is an embedding column.
type vector []float32

// ScanBytes reads a column.
func (v *vector) ScanBytes(b []byte) error {
	*v = nil
	if b != nil {
		*v = rowcodec.Vector(b)
	}
	return nil
}

// querier is what the pool and a transaction have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func memories(ctx context.Context, q querier, sql string, args ...any) ([]memory.Memory, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanMemory)
}

// Touch counts accesses. It locks the rows in the order of their ids, so that two
// batches do not deadlock.
func (s *Store) Touch(ctx context.Context, touches []db.Touch) error {
	touches = merged(touches)
	if len(touches) == 0 {
		return nil
	}
	err := s.execAsync(ctx, `
		WITH t AS (
			SELECT m.id, m.app_id, m.user_id, n, at
			FROM unnest($1::uuid[], $2::text[], $3::text[], $4::integer[], $5::timestamptz[]) AS t (id, app_id, user_id, n, at)
			JOIN agent_memories m USING (id, app_id, user_id)
			ORDER BY m.id FOR NO KEY UPDATE OF m
		), touched AS (
			UPDATE agent_memories m
			SET access_count = m.access_count + t.n, last_accessed_at = greatest(m.last_accessed_at, t.at)
			FROM t
			WHERE m.id = t.id AND m.app_id = t.app_id AND m.user_id = t.user_id
			RETURNING m.app_id, m.user_id, m.agent_id, t.at
		)
		INSERT INTO active_days (app_id, user_id, agent_id, day)
		SELECT DISTINCT app_id, user_id, unnest(ARRAY['', agent_id]), floor(extract(epoch FROM at) / 86400)::integer
		FROM touched ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING`,
		column(touches, func(t db.Touch) string { return t.ID }),
		column(touches, func(t db.Touch) string { return t.Owner.AppID }),
		column(touches, func(t db.Touch) string { return t.Owner.UserID }),
		column(touches, func(t db.Touch) int { return t.Count }),
		column(touches, func(t db.Touch) time.Time { return t.At }))
	return fault(err, "count the accesses")
}

// merged returns one touch for each memory, in the order of their ids.
func merged(touches []db.Touch) []db.Touch {
	sorted := slices.DeleteFunc(slices.Clone(touches), func(t db.Touch) bool { return !memory.IsID(t.ID) })
	slices.SortFunc(sorted, func(a, b db.Touch) int { return cmp.Compare(a.ID, b.ID) })
	one := sorted[:0]
	for _, t := range sorted {
		if last := len(one) - 1; last >= 0 && one[last].ID == t.ID {
			one[last].Count += t.Count
			if t.At.After(one[last].At) {
				one[last].At = t.At
			}
			continue
		}
		one = append(one, t)
	}
	return one
}
