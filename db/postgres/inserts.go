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

// Insert stores new memories.
func (u *userTx) Insert(ctx context.Context, memories []memory.Memory, claimed time.Time) error {
	claims := 0 // a claim at birth is the first one
	if !claimed.IsZero() {
		claims = 1
	}
	return u.insert(ctx, memories, func(m *memory.Memory) standing {
		return standing{state: memory.VectorPending, due: m.UpdatedAt, claimed: claimed, claims: claims}
	})
}

// Restore stores memories as they are.
func (u *userTx) Restore(ctx context.Context, memories []memory.Memory, due time.Time) error {
	return u.insert(ctx, memories, func(m *memory.Memory) standing {
		state := memory.VectorAbsent
		if m.Status == memory.Active {
			state = memory.VectorPending
		}
		return standing{state: state, due: due, claims: 1} // the next claim is not the first one
	})
}

// standing is how a new row stands towards the vector store.
type standing struct {
	state   memory.VectorState
	due     time.Time
	claimed time.Time // zero: by nobody
	claims  int
}

// insertion is how new rows of a table are stored.
type insertion struct {
	table   string
	columns []string
	one     string // statement that inserts one
}

func into(table string, columns ...string) insertion {
	places := make([]string, len(columns))
	for i := range places {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	return insertion{table, columns, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "), strings.Join(places, ", "))}
}

// A memory is a row of each.
var (
	intoMemories = into("agent_memories",
		"id", "app_id", "user_id", "agent_id", "conversation_id", "source_turn_id", "content", "content_hash",
		"memory_type", "domain", "tags", "importance_score", "metadata", "pinned", "status", "superseded_by",
		"created_at", "updated_at", "last_accessed_at", "access_count", "lexemes", "revision", "embedding_model",
		"vector_state", "vector_attempts", "vector_since", "vector_due", "vector_claimed_until", "vector_claims")
	intoEmbeddings = into("embeddings", "memory_id", "app_id", "user_id", "active", "model", "embedding")
)

func memoryRow(m *memory.Memory, o standing) []any {
	return []any{
		m.ID, m.AppID, m.UserID, m.AgentID, m.ConversationID, idOrNull(m.SourceTurnID), m.Content, rowcodec.ContentHash(m.Content),
		m.Type, m.Domain, tags(m), m.Importance, m.Metadata, m.Pinned, m.Status, idOrNull(m.SupersededBy),
		m.CreatedAt, m.UpdatedAt, m.LastAccessedAt, m.AccessCount, m.Lexemes, m.Revision, m.EmbeddingModel,
		o.state, 0, o.due, o.due, orNull(o.claimed), o.claims,
	}
}

func embeddingRow(m *memory.Memory) []any {
	return []any{m.ID, m.AppID, m.UserID, m.Status == memory.Active, m.EmbeddingModel, rowcodec.VectorBytes(m.Embedding)}
}

// few memories are inserted one by one in one round trip; COPY, which must ask
// for the columns' types each time, takes two for each table.
const few = 8

func (u *userTx) insert(ctx context.Context, memories []memory.Memory, stand func(*memory.Memory) standing) error {
	u.Wrote(memories...)
	for _, m := range memories {
		if err := rowcodec.CheckMemory(u.Owner, m); err != nil {
			return err
		}
	}
	whole := func(i int) []any { return memoryRow(&memories[i], u.vectors.stand(memories[i], stand(&memories[i]))) }
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
	_, err := u.tx.CopyFrom(ctx, pgx.Identifier{to.table}, to.columns, pgx.CopyFromSlice(n, func(i int) ([]any, error) { return row(i), nil }))
	return err
}
