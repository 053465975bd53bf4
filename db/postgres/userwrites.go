package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

func (u *userTx) Update(ctx context.Context, m memory.Memory) error {
	if !memory.IsID(m.ID) || m.Owner != u.Owner {
		return notFound("memory", m.ID)
	}
	if err := u.Writing(m); err != nil {
		return err
	}
	takes, vectored := u.vectors.takes(m), false
	if err := u.BeforeUpdate(ctx, m); err != nil {
		return fault(err, "change what depends on the memory")
	}
	err := u.tx.QueryRow(ctx, `
		WITH changed AS (UPDATE agent_memories SET
			agent_id = $4, conversation_id = $5, source_turn_id = $6, content = $7, content_hash = $8,
			memory_type = $9, domain = $10, tags = $11, importance_score = $12, metadata = $13, pinned = $14,
			status = $15, superseded_by = $16, created_at = $17, updated_at = $18, last_accessed_at = greatest(last_accessed_at,
			$19),
			lexemes = $20, embedding_model = $21, revision = $23, change = $25, asked = $26, faded = $27,
			last_said_at = $28, expires_at = $29,
			vector_state = CASE WHEN revision = $23 THEN vector_state
				WHEN $24 AND vector_claimed_until IS NULL THEN
					CASE WHEN $15 = 'active' AND $21 <> '' THEN 'synced' ELSE 'absent' END
				WHEN $15 = 'active' AND $21 <> '' THEN 'pending' ELSE 'removing' END,
			vector_attempts = CASE WHEN $24 AND revision <> $23 AND vector_claimed_until IS NULL THEN 0 ELSE vector_attempts END,
			vector_since = CASE WHEN revision = $23 OR vector_state IN ('pending', 'removing') THEN vector_since ELSE $18 END,
			vector_due = CASE WHEN revision = $23 THEN vector_due ELSE $18 END
		WHERE id = $1 AND app_id = $2 AND user_id = $3
		RETURNING id, $24 AND vector_state IN ('synced', 'absent') AND vector_due = $18 AS vectored),
		embedded AS (UPDATE embeddings e SET active = $15 = 'active', model = $21, embedding = $22
			FROM changed WHERE e.memory_id = changed.id AND e.app_id = $2 AND e.user_id = $3) -- another process may have
			-- settled a new embedding
		SELECT vectored FROM changed`,
		m.ID, m.AppID, m.UserID, m.AgentID, m.ConversationID, textOrNull(m.SourceTurnID), m.Content,
		rowcodec.ContentHash(m.Content),
		m.Type, m.Domain, tags(&m), m.Importance, m.Metadata, m.Pinned,
		m.Status, textOrNull(m.SupersededBy), m.CreatedAt, m.UpdatedAt, m.LastAccessedAt,
		m.Lexemes, m.EmbeddingModel, rowcodec.VectorBytes(m.Embedding), m.Revision, takes, u.Change, m.Asked,
		m.Faded, orNull(m.LastSaidAt), orNull(m.ExpiresAt)).Scan(&vectored)
	if errors.Is(err, pgx.ErrNoRows) {
		return notFound("memory", m.ID)
	}
	if vectored {
		u.vectors.note(m)
	}
	if err == nil {
		err = u.AfterUpdate(ctx, m)
	}
	return fault(err, "change the memory")
}

func (u *userTx) AddEvents(ctx context.Context, events []memory.Event) error {
	u.Happened(events...)
	return u.RestoreEvents(ctx, events)
}

func (u *userTx) RestoreEvents(ctx context.Context, events []memory.Event) error {
	if len(events) == 0 {
		return nil
	}
	tag, err := u.tx.Exec(ctx, `
		INSERT INTO memory_events (app_id, user_id, id, memory_id, kind, cause, detail, at)
		SELECT $1, $2, e.id, e.memory_id, e.kind, e.cause, e.detail::json, e.at
		FROM unnest(`+third+`, $4::uuid[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
			AS e (id, memory_id, kind, cause, detail, at)
		WHERE coalesce(
			(SELECT true FROM agent_memories m WHERE m.id = e.memory_id AND m.app_id = $1 AND m.user_id = $2),
			(SELECT false FROM agent_memories m WHERE m.id = e.memory_id),
			true)`,
		u.Owner.AppID, u.Owner.UserID,
		column(events, func(e memory.Event) string { return e.ID }),
		column(events, func(e memory.Event) string { return e.MemoryID }),
		column(events, func(e memory.Event) string { return string(e.Kind) }),
		column(events, func(e memory.Event) string { return rowcodec.Storable(e.Cause) }),
		column(events, func(e memory.Event) *string { return textOrNull(string(e.Detail)) }),
		column(events, func(e memory.Event) time.Time { return e.At }))
	if err == nil && tag.RowsAffected() != int64(len(events)) {
		return memory.Errorf(memory.KindNotFound, "an event is about a memory that the user does not have")
	}
	return fault(err, "store the events")
}

// tags are never null: a memory without tags has an empty array.
func tags(m *memory.Memory) []string {
	if m.Tags == nil {
		return []string{}
	}
	return m.Tags
}

func (u *userTx) Insert(ctx context.Context, memories []memory.Memory, claimed time.Time) error {
	return u.insert(ctx, memories, sqlstore.Inserted(claimed))
}

func (u *userTx) Restore(ctx context.Context, restored []memory.Memory, due time.Time) error {
	if err := u.RefuseTaken(ctx, "agent_memories", memory.IDs(restored)); err != nil {
		return fault(err, "store the memories")
	}
	if err := u.RefuseForeignSuccessors(ctx, restored); err != nil {
		return err
	}
	return u.insert(ctx, restored, sqlstore.Restored(due))
}

// insertion stores new rows of a table.
type insertion struct {
	table   string
	columns []string
	one     string // the statement that inserts one row
}

func into(table string, columns ...string) insertion {
	places := make([]string, len(columns))
	for i := range places {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	return insertion{table, columns,
		fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "), strings.Join(places, ", "))}
}

// A memory is a row in each of these tables.
var (
	intoMemories = into("agent_memories",
		"id", "app_id", "user_id", "agent_id", "conversation_id", "source_turn_id", "speaker", "asked",
		"content", "content_hash",
		"memory_type", "domain", "tags", "importance_score", "metadata", "pinned", "status", "faded",
		"superseded_by",
		"created_at", "last_said_at", "expires_at", "updated_at", "last_accessed_at", "access_count", "lexemes", "revision",
		"embedding_model",
		"vector_state", "vector_attempts", "vector_since", "vector_due", "vector_claimed_until", "vector_claims", "change")
	intoEmbeddings = into("embeddings", "memory_id", "app_id", "user_id", "active", "model", "embedding")
)

func memoryRow(m *memory.Memory, p sqlstore.Projection, change int64) []any {
	return []any{
		m.ID, m.AppID, m.UserID, m.AgentID, m.ConversationID, textOrNull(m.SourceTurnID), m.Speaker, m.Asked, m.Content,
		rowcodec.ContentHash(m.Content),
		m.Type, m.Domain, tags(m), m.Importance, m.Metadata, m.Pinned, m.Status, m.Faded,
		textOrNull(m.SupersededBy), m.CreatedAt, orNull(m.LastSaidAt), orNull(m.ExpiresAt), m.UpdatedAt, m.LastAccessedAt,
		m.AccessCount, m.Lexemes, m.Revision, m.EmbeddingModel,
		p.State, 0, p.Due, p.Due, orNull(p.Claimed), p.Claims, change,
	}
}

func embeddingRow(m *memory.Memory) []any {
	return []any{m.ID, m.AppID, m.UserID, m.Status == memory.Active, m.EmbeddingModel, rowcodec.VectorBytes(m.Embedding)}
}

// few is the most memories that are inserted one by one, in one round trip. COPY asks for the columns' types each time
// and needs two round trips for each table.
const few = 8

func (u *userTx) insert(
	ctx context.Context, memories []memory.Memory, project func(memory.Memory) sqlstore.Projection,
) error {
	if err := u.Writing(memories...); err != nil {
		return err
	}
	whole := func(i int) []any {
		return memoryRow(&memories[i], u.vectors.project(memories[i], project(memories[i])), u.Change)
	}
	embedding := func(i int) []any { return embeddingRow(&memories[i]) }
	if len(memories) > few {
		err := u.copy(ctx, intoMemories, len(memories), whole)
		if err == nil {
			err = u.copy(ctx, intoEmbeddings, len(memories), embedding)
		}
		return fault(err, "store the memories")
	}
	batch := &pgx.Batch{}
	for i := range memories {
		batch.Queue(intoMemories.one, whole(i)...)
		batch.Queue(intoEmbeddings.one, embedding(i)...)
	}
	return fault(u.tx.SendBatch(ctx, batch).Close(), "store the memories")
}

func (u *userTx) copy(ctx context.Context, to insertion, n int, row func(i int) []any) error {
	_, err := u.tx.CopyFrom(ctx, pgx.Identifier{to.table}, to.columns, pgx.CopyFromSlice(n, func(i int) ([]any, error) {
		return row(i), nil
	}))
	return err
}
