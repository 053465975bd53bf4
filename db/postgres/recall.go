package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

const (
	documentColumns = `id, lexemes, speaker, asked, content, domain, memory_type, tags, agent_id, conversation_id,
		importance_score, created_at, last_accessed_at, expires_at, CASE WHEN memory_type <> 'message' THEN ARRAY(
			SELECT to_id::text FROM memory_relations WHERE from_id = m.id AND kind = 'derived_from' ORDER BY to_id) END,
		CASE WHEN NOT (SELECT EXISTS (
			SELECT FROM agent_memories WHERE app_id = $1 AND user_id = $2 AND status = 'superseded')) THEN NULL
		WHEN memory_type = 'message' THEN (
			SELECT json_agg(json_build_object('Lexemes', f.lexemes, 'From', m.id, 'Said', m.content) ORDER BY f.id)
			FROM memory_relations r JOIN agent_memories f ON f.id = r.from_id
			WHERE r.to_id = m.id AND r.kind = 'derived_from' AND f.status = 'superseded'
				AND f.app_id = $1 AND f.user_id = $2)
		WHEN memory_type IN ('reflection', 'summary') AND EXISTS (
			SELECT FROM memory_relations r JOIN agent_memories f ON f.id = r.to_id
			WHERE r.from_id = m.id AND r.kind = 'derived_from' AND f.status = 'superseded'
				AND f.app_id = $1 AND f.user_id = $2) THEN (
			SELECT json_agg(json_build_object('Lexemes', f.lexemes, 'From', m.id, 'Said', '') ORDER BY f.id)
			FROM memory_relations r JOIN agent_memories f ON f.id = r.to_id
			WHERE r.from_id = m.id AND r.kind = 'derived_from' AND f.status = 'superseded'
				AND f.app_id = $1 AND f.user_id = $2)
		WHEN EXISTS (
			SELECT 1 FROM agent_memories WHERE superseded_by = m.id AND app_id = $1 AND user_id = $2) THEN (
			WITH RECURSIVE former(id, lexemes) AS (
				SELECT f.id, f.lexemes FROM agent_memories f
				WHERE f.superseded_by = m.id AND f.app_id = $1 AND f.user_id = $2
				UNION SELECT f.id, f.lexemes FROM former JOIN agent_memories f
					ON f.superseded_by = former.id AND f.app_id = $1 AND f.user_id = $2)
			SELECT json_agg(json_build_object('Lexemes', former.lexemes, 'From', s.id, 'Said', s.content)
				ORDER BY s.id, former.id)
			FROM former JOIN memory_relations ON from_id = former.id JOIN agent_memories s ON s.id = to_id
			WHERE kind = 'derived_from' AND s.memory_type = 'message' AND s.app_id = $1 AND s.user_id = $2) END`
	documents = `SELECT ` + documentColumns + ` FROM agent_memories m
		WHERE app_id = $1 AND user_id = $2 AND status = 'active' ORDER BY conversation_id, created_at, id`
)

func documentFields(d *db.Document) []any {
	return []any{&d.ID, &d.Lexemes, &d.Speaker, &d.Asked, &d.Content, &d.Domain, &d.Type, &d.Tags, &d.AgentID,
		&d.ConversationID, &d.Importance, &d.CreatedAt, &d.LastAccessedAt, (*sqlstore.Instant)(&d.ExpiresAt),
		&d.DerivedFrom, &d.Supersedes}
}

// tidy makes empty lists nil.
func tidy(d db.Document) db.Document {
	if len(d.Tags) == 0 {
		d.Tags = nil
	}
	if len(d.DerivedFrom) == 0 {
		d.DerivedFrom = nil
	}
	return d
}

func (s *Store) Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error) {
	rows, _ := s.pool.Query(ctx, documents, owner.AppID, owner.UserID)
	found, err := pgx.CollectRows(rows, scanDocument)
	return found, fault(err, "read the user's documents")
}

func scanDocument(row pgx.CollectableRow) (d db.Document, err error) {
	err = row.Scan(documentFields(&d)...)
	return tidy(d), err
}

func (s *Store) Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error) {
	if len(embedded) == 0 {
		found, err := memories(ctx, s.pool, `SELECT `+withoutVectors+` FROM agent_memories
			WHERE id = `+among+` AND app_id = $1 AND user_id = $2 AND status = 'active'`,
			owner.AppID, owner.UserID, onlyIDs(ids))
		return found, fault(err, "read the candidates")
	}
	found, err := memories(ctx, s.pool, `
		SELECT `+bareColumns+`CASE WHEN id = ANY($4::uuid[]) THEN `+itsEmbedding+` END, `+besideColumns+`
		FROM agent_memories WHERE id = `+among+` AND app_id = $1 AND user_id = $2 AND status = 'active'`,
		owner.AppID, owner.UserID, onlyIDs(ids), onlyIDs(embedded))
	return found, fault(err, "read the candidates")
}

// Statements of Recalled.
const (
	recalled = `SELECT ` + recordColumns + `'', embedding_model, revision, ` + noVectors + ` FROM agent_memories
		WHERE id = ` + among + ` AND app_id = $1 AND user_id = $2 AND status = 'active'`
	accesses = `SELECT id, last_accessed_at FROM agent_memories
		WHERE id = ` + among + ` AND app_id = $1 AND user_id = $2 AND status = 'active'`
)

// Recalled reads the memories in whole, and when those in rest were last accessed, in one round trip.
func (s *Store) Recalled(ctx context.Context, owner memory.Owner, whole, rest []string) (found db.Recalled, err error) {
	batch := &pgx.Batch{}
	if len(whole) > 0 {
		batch.Queue(recalled, owner.AppID, owner.UserID, onlyIDs(whole)).Query(func(rows pgx.Rows) (err error) {
			found.Whole, err = pgx.AppendRows(make([]memory.Memory, 0, len(whole)), rows, scanMemory)
			return err
		})
	}
	if len(rest) > 0 {
		found.Accessed = make(map[string]time.Time, len(rest))
		batch.Queue(accesses, owner.AppID, owner.UserID, onlyIDs(rest)).Query(func(rows pgx.Rows) error {
			var id string
			var at time.Time
			_, err := pgx.ForEachRow(rows, []any{&id, &at}, func() error {
				found.Accessed[id] = at
				return nil
			})
			return err
		})
	}
	err = s.pool.SendBatch(ctx, batch).Close()
	return found, fault(err, "read what may be recalled")
}

// embeddingsBy selects the embeddings of an owner's memories by a model.
// It checks once, rather than for each memory, whether there are reembeddings: only a change of the model makes them.
const embeddingsBy = `
	SELECT e.memory_id, coalesce(r.embedding, e.embedding)
	FROM embeddings e LEFT JOIN reembeddings r ON (SELECT EXISTS (SELECT FROM reembeddings)) AND r.memory_id = e.memory_id
	AND r.model = $4
	WHERE e.app_id = $1 AND e.user_id = $2 AND (r.model IS NOT NULL OR e.model = $4)`

func (s *Store) Embeddings(
	ctx context.Context, owner memory.Owner, model string, ids []string,
) (map[string][]float32, error) {
	rows, _ := s.pool.Query(ctx, embeddingsBy+` AND e.memory_id = `+among, owner.AppID, owner.UserID, onlyIDs(ids), model)
	vectors := make(map[string][]float32, len(ids))
	var id string
	var column []byte
	_, err := pgx.ForEachRow(rows, []any{&id, &column}, func() error {
		vectors[id] = rowcodec.Vector(column)
		return nil
	})
	if err != nil {
		return nil, fault(err, "read the embeddings")
	}
	return vectors, nil
}

func (s *Store) EachEmbedding(
	ctx context.Context, owner memory.Owner, model string, limit int, f func(id string, embedding []float32),
) error {
	rows, _ := s.pool.Query(ctx, embeddingsBy+` AND e.active LIMIT $3`, owner.AppID, owner.UserID, limit, model)
	var id string
	var column pgtype.DriverBytes
	var vector []float32
	_, err := pgx.ForEachRow(rows, []any{&id, &column}, func() error {
		vector = rowcodec.AppendVector(vector[:0], column)
		f(id, vector)
		return nil
	})
	return fault(err, "read the user's embeddings")
}

// unconfirmed reads pending memories in the order of their index, since there may
// be many while the vector store is unavailable. It sorts the few that were just
// confirmed. Their ids are one array, which Postgres makes once. It would join a
// subquery, and read it again for each memory of the user, as long as the
// statistics tell of few pending memories, that is, until an outage has lasted for long.
const unconfirmed = `SELECT ` + memoryColumns + ` FROM agent_memories
	WHERE app_id = $1 AND user_id = $2 AND id = ANY (ARRAY(` + unconfirmedIDs + `))
	ORDER BY updated_at DESC, id DESC LIMIT $4`

const unconfirmedIDs = `
		(SELECT id FROM agent_memories
		WHERE app_id = $1 AND user_id = $2 AND status = 'active' AND vector_state = 'pending'
		ORDER BY updated_at DESC, id DESC LIMIT $4)
		UNION ALL
		SELECT id FROM agent_memories
		WHERE app_id = $1 AND user_id = $2 AND status = 'active' AND vector_state = 'synced' AND vector_synced_at >= $3`

// recent also reads what has changed after a revision. Its bounds are those of changedDocuments, for the same reason.
const recent = `SELECT ` + memoryColumns + ` FROM agent_memories
	WHERE app_id = $1 AND user_id = $2 AND id = ANY (ARRAY(` + unconfirmedIDs + `
		UNION ALL
		SELECT id FROM agent_memories
		WHERE app_id = $1 AND user_id = $2 AND change > 0
			AND change > (SELECT $5::bigint) AND change < 9223372036854775807
			AND status = 'active' AND memory_type <> 'message'))
	ORDER BY updated_at DESC, id DESC LIMIT $4`

func (s *Store) Unconfirmed(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) ([]memory.Memory, error) {
	found, err := memories(ctx, s.pool, unconfirmed, owner.AppID, owner.UserID, since, limit)
	return found, fault(err, "read the user's newest writes")
}
