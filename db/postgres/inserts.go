package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

func (u *userTx) Insert(ctx context.Context, memories []memory.Memory, claimed time.Time) error {
	claims := 0
	if !claimed.IsZero() { // the row is created with its first claim
		claims = 1
	}
	return u.insert(ctx, memories, func(m *memory.Memory) projection {
		return projection{state: memory.VectorPending, due: m.UpdatedAt, claimed: claimed, claims: claims}
	})
}

func (u *userTx) Restore(ctx context.Context, memories []memory.Memory, due time.Time) error {
	return u.insert(ctx, memories, func(m *memory.Memory) projection {
		state := memory.VectorAbsent
		if m.Status == memory.Active {
			state = memory.VectorPending
		}
		return projection{state: state, due: due, claims: 1} // so that the next claim is not the first one
	})
}

// projection is the desired vector state of a new row.
type projection struct {
	state   memory.VectorState
	due     time.Time
	claimed time.Time // until when; zero: not claimed
	claims  int
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
		"id", "app_id", "user_id", "agent_id", "conversation_id", "source_turn_id", "speaker",
		"content", "content_hash",
		"memory_type", "domain", "tags", "importance_score", "metadata", "pinned", "status", "superseded_by",
		"created_at", "updated_at", "last_accessed_at", "access_count", "lexemes", "revision", "embedding_model",
		"vector_state", "vector_attempts", "vector_since", "vector_due", "vector_claimed_until", "vector_claims")
	intoEmbeddings = into("embeddings", "memory_id", "app_id", "user_id", "active", "model", "embedding")
)

func memoryRow(m *memory.Memory, p projection) []any {
	return []any{
		m.ID, m.AppID, m.UserID, m.AgentID, m.ConversationID, textOrNull(m.SourceTurnID), m.Speaker, m.Content,
		rowcodec.ContentHash(m.Content),
		m.Type, m.Domain, tags(m), m.Importance, m.Metadata, m.Pinned, m.Status, textOrNull(m.SupersededBy),
		m.CreatedAt, m.UpdatedAt, m.LastAccessedAt, m.AccessCount, m.Lexemes, m.Revision, m.EmbeddingModel,
		p.state, 0, p.due, p.due, orNull(p.claimed), p.claims,
	}
}

func embeddingRow(m *memory.Memory) []any {
	return []any{m.ID, m.AppID, m.UserID, m.Status == memory.Active, m.EmbeddingModel, rowcodec.VectorBytes(m.Embedding)}
}

// Up to few memories are inserted one by one in one round trip. COPY asks for the
// columns' types each time and needs two round trips for each table.
const few = 8

func (u *userTx) insert(ctx context.Context, memories []memory.Memory, project func(*memory.Memory) projection) error {
	u.Wrote(memories...)
	for _, m := range memories {
		if err := rowcodec.CheckMemory(u.Owner, m); err != nil {
			return err
		}
	}
	whole := func(i int) []any {
		return memoryRow(&memories[i], u.vectors.project(memories[i], project(&memories[i])))
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
