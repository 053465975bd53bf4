package sqlite

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const (
	documentColumns = `id, lexemes, speaker, asked, content, domain, memory_type, tags, agent_id, conversation_id,
		importance_score, created_at, last_accessed_at, expires_at, iif(memory_type = 'message', '[]', (
			SELECT json_group_array(to_id) FROM (
				SELECT to_id FROM memory_relations WHERE from_id = m.id AND kind = 'derived_from' ORDER BY to_id))),
		CASE WHEN NOT (SELECT EXISTS (SELECT 1 FROM agent_memories
			WHERE app_id = ?1 AND user_id = ?2 AND status <> 'active' AND status = 'superseded')) THEN '[]'
		WHEN memory_type = 'message' THEN (
			SELECT json_group_array(json_object('Lexemes', lexemes, 'From', m.id, 'Said', m.content)) FROM (
				SELECT f.lexemes FROM memory_relations r JOIN agent_memories f ON f.id = r.from_id
				WHERE r.to_id = m.id AND r.kind = 'derived_from' AND f.status = 'superseded' ORDER BY f.id))
		WHEN memory_type IN ('reflection', 'summary') AND EXISTS (SELECT 1
			FROM memory_relations r JOIN agent_memories f ON f.id = r.to_id
			WHERE r.from_id = m.id AND r.kind = 'derived_from' AND f.status = 'superseded') THEN (
			SELECT json_group_array(json_object('Lexemes', lexemes, 'From', m.id, 'Said', '')) FROM (
				SELECT f.lexemes FROM memory_relations r JOIN agent_memories f ON f.id = r.to_id
				WHERE r.from_id = m.id AND r.kind = 'derived_from' AND f.status = 'superseded' ORDER BY f.id))
		WHEN EXISTS (SELECT 1 FROM agent_memories WHERE superseded_by = m.id) THEN (
			WITH RECURSIVE former(id, lexemes) AS (
				SELECT f.id, f.lexemes FROM agent_memories f WHERE f.superseded_by = m.id
				UNION SELECT f.id, f.lexemes FROM former JOIN agent_memories f ON f.superseded_by = former.id)
			SELECT json_group_array(json_object('Lexemes', lexemes, 'From', id, 'Said', content)) FROM (
				SELECT former.lexemes, s.id, s.content
				FROM former JOIN memory_relations ON from_id = former.id JOIN agent_memories s ON s.id = to_id
				WHERE kind = 'derived_from' AND s.memory_type = 'message' ORDER BY s.id, former.id)) ELSE '[]' END`
	documents = `SELECT ` + documentColumns + ` FROM agent_memories m
		WHERE app_id = ?1 AND user_id = ?2 AND status = 'active' ORDER BY conversation_id, created_at, id`
)

func documentFields(d *db.Document) []any {
	return []any{&d.ID, &d.Lexemes, &d.Speaker, &d.Asked, &d.Content, &d.Domain, &d.Type, (*tagList)(&d.Tags), &d.AgentID,
		&d.ConversationID, &d.Importance, (*instant)(&d.CreatedAt), (*instant)(&d.LastAccessedAt), (*instant)(&d.ExpiresAt),
		(*tagList)(&d.DerivedFrom), (*formerList)(&d.Supersedes)}
}

func (s *Store) Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error) {
	found, err := collect(ctx, s.reader, documentFields, documents, owner.AppID, owner.UserID)
	return found, fault(err, "read the user's documents")
}

func (s *Store) Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error) {
	if len(embedded) == 0 {
		found, err := collect(ctx, s.reader, memoryFields, `SELECT `+withoutVectors+` FROM agent_memories
			WHERE id IN (SELECT value FROM json_each(?)) AND +app_id = ? AND +user_id = ? AND +status = 'active'`,
			list(ids), owner.AppID, owner.UserID)
		return found, fault(err, "read the candidates")
	}
	found, err := collect(ctx, s.reader, memoryFields, `
		SELECT `+bareColumns+`CASE WHEN id IN (SELECT value FROM json_each(?)) THEN embedding END, `+besideColumns+`
		FROM agent_memories WHERE id IN (SELECT value FROM json_each(?)) AND +app_id = ? AND +user_id = ?
		AND +status = 'active'`,
		list(embedded), list(ids), owner.AppID, owner.UserID)
	return found, fault(err, "read the candidates")
}

func (s *Store) Recalled(ctx context.Context, owner memory.Owner, whole, rest []string) (found db.Recalled, err error) {
	const these = ` FROM agent_memories
		WHERE id IN (SELECT value FROM json_each(?)) AND +app_id = ? AND +user_id = ? AND +status = 'active'`
	if len(whole) > 0 {
		found.Whole, err = collect(ctx, s.reader, memoryFields,
			`SELECT `+recordColumns+`'', embedding_model, revision, `+noVectors+these, list(whole), owner.AppID, owner.UserID)
		if err != nil {
			return db.Recalled{}, fault(err, "read what may be recalled")
		}
	}
	if len(rest) > 0 {
		others, err := collect(ctx, s.reader, func(m *memory.Memory) []any {
			return []any{&m.ID, (*instant)(&m.LastAccessedAt)}
		},
			`SELECT id, last_accessed_at`+these, list(rest), owner.AppID, owner.UserID)
		if err != nil {
			return db.Recalled{}, fault(err, "read when memories were last accessed")
		}
		found.Accessed = make(map[string]time.Time, len(others))
		for _, m := range others {
			found.Accessed[m.ID] = m.LastAccessedAt
		}
	}
	return found, nil
}

func (s *Store) Embeddings(
	ctx context.Context, owner memory.Owner, model string, ids []string,
) (map[string][]float32, error) {
	found, err := collect(ctx, s.reader, func(m *memory.Memory) []any { return []any{&m.ID, (*vector)(&m.Embedding)} }, `
		SELECT id, coalesce(r.embedding, m.embedding)
		FROM agent_memories m LEFT JOIN reembeddings r ON r.memory_id = id AND r.model = ?4
		WHERE id IN (SELECT value FROM json_each(?1)) AND +app_id = ?2 AND +user_id = ?3
			AND (r.model IS NOT NULL OR embedding_model = ?4)`,
		list(ids), owner.AppID, owner.UserID, model)
	if err != nil {
		return nil, fault(err, "read the embeddings")
	}
	vectors := make(map[string][]float32, len(found))
	for _, m := range found {
		vectors[m.ID] = m.Embedding
	}
	return vectors, nil
}

func (s *Store) EachEmbedding(
	ctx context.Context, owner memory.Owner, model string, limit int, f func(id string, embedding []float32),
) error {
	const doing = "read the user's embeddings"
	rows, err := s.reader.QueryContext(ctx, `
		SELECT id, coalesce(r.embedding, m.embedding)
		FROM agent_memories m INDEXED BY agent_memories_documents LEFT JOIN reembeddings r ON r.memory_id = id
		AND r.model = ?3
		WHERE app_id = ?1 AND user_id = ?2 AND status = 'active' AND (r.model IS NOT NULL OR embedding_model = ?3)
		LIMIT ?4`,
		owner.AppID, owner.UserID, model, limit)
	if err != nil {
		return fault(err, doing)
	}
	defer rows.Close()
	var id string
	var column sql.RawBytes
	var embedding []float32
	for rows.Next() {
		if err := rows.Scan(&id, &column); err != nil {
			return fault(err, doing)
		}
		embedding = rowcodec.AppendVector(embedding[:0], column)
		f(id, embedding)
	}
	return fault(rows.Err(), doing)
}

func (s *Store) Unconfirmed(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) ([]memory.Memory, error) {
	return recent(ctx, s.reader, owner, since, math.MaxInt64, limit)
}

// recent reads the unconfirmed memories, and those other than messages that have changed after a revision.
func recent(
	ctx context.Context, q querier, owner memory.Owner, since time.Time, after int64, limit int,
) ([]memory.Memory, error) {
	// Pending memories are read in the order of their index, since there may be many
	// while the vector store is unavailable. The few that were just confirmed are sorted.
	found, err := collect(ctx, q, memoryFields, `
		SELECT `+memoryColumns+` FROM agent_memories WHERE id IN (
			SELECT id FROM (SELECT id FROM agent_memories INDEXED BY agent_memories_unconfirmed
				WHERE app_id = ?1 AND user_id = ?2 AND status = 'active' AND vector_state = 'pending'
				ORDER BY updated_at DESC, id DESC LIMIT ?4)
			UNION ALL
			SELECT id FROM agent_memories INDEXED BY agent_memories_confirmed
			WHERE app_id = ?1 AND user_id = ?2 AND status = 'active' AND vector_state = 'synced' AND vector_synced_at >= ?3
			UNION ALL
			SELECT id FROM agent_memories INDEXED BY agent_memories_changes
			WHERE app_id = ?1 AND user_id = ?2 AND change > +?5 AND change > 0
				AND status = 'active' AND memory_type <> 'message')
		ORDER BY updated_at DESC, id DESC LIMIT ?4`, owner.AppID, owner.UserID, moment(since), limit, after)
	return found, fault(err, "read the user's newest writes")
}

func (s *Store) Touch(ctx context.Context, touches []db.Touch) error {
	err := s.writeAsync(ctx, func(tx *sql.Tx) error {
		err := each(ctx, tx, `UPDATE agent_memories
			SET access_count = access_count + ?, last_accessed_at = max(last_accessed_at, ?)
			WHERE id = ? AND +app_id = ? AND +user_id = ?`,
			touches, func(t db.Touch) []any { return []any{t.Count, moment(t.At), t.ID, t.Owner.AppID, t.Owner.UserID} })
		if err != nil {
			return err
		}
		return each(ctx, tx, noteTouched, touchedDays(touches), func(d touchedDay) []any {
			return []any{d.owner.AppID, d.owner.UserID, list(d.ids), d.day}
		})
	})
	return fault(err, "count the accesses")
}

// noteTouched notes a day for the memories in ?3 that exist, and for their agents.
const noteTouched = `INSERT INTO active_days (app_id, user_id, agent_id, day)
	SELECT DISTINCT m.app_id, m.user_id, agent.value, ?4
	FROM json_each(?3) AS touched JOIN agent_memories AS m ON m.id = touched.value,
		json_each(json_array('', m.agent_id)) AS agent
	WHERE +m.app_id = ?1 AND +m.user_id = ?2 ON CONFLICT DO NOTHING`

// touchedDay lists the memories of a user that were accessed on a day.
type touchedDay struct {
	owner memory.Owner
	day   int
	ids   []string
}

// touchedDays returns the days of the latest access of each memory.
func touchedDays(touches []db.Touch) (days []touchedDay) {
	latest := map[string]time.Time{}
	for _, t := range touches {
		if t.At.After(latest[t.ID]) {
			latest[t.ID] = t.At
		}
	}
	for _, t := range touches {
		if t.At.Before(latest[t.ID]) {
			continue
		}
		day := db.DayOf(t.At)
		i := slices.IndexFunc(days, func(d touchedDay) bool { return d.owner == t.Owner && d.day == day })
		if i < 0 {
			i = len(days)
			days = append(days, touchedDay{owner: t.Owner, day: day})
		}
		days[i].ids = append(days[i].ids, t.ID)
	}
	return days
}

// each runs one prepared statement for each item.
func each[T any](ctx context.Context, tx *sql.Tx, query string, items []T, args func(T) []any) error {
	rows := make([][]any, len(items))
	for i, item := range items {
		rows[i] = args(item)
	}
	_, err := transaction{tx: tx}.ExecAll(ctx, query, rows)
	return err
}
