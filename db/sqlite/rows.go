package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// instant is a time column, null for the zero time.
type instant = sqlstore.Instant

// moment is a time column that is never null, also for the zero time.
func moment(t time.Time) int64 { return t.UnixMicro() }

// jsonText is a JSON column. It is text, which people and SQLite's functions can read.
func jsonText(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}

// list is many values as one parameter, for IN (SELECT value FROM json_each(?)).
func list[T ~string](values []T) string {
	if len(values) == 0 {
		return "[]"
	}
	b, _ := json.Marshal(values) // strings only: cannot fail
	return string(b)
}

// querier is what the pools and a transaction have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// collect runs a query and reads each row into a T by the destinations that
// fields returns.
func collect[T any](ctx context.Context, q querier, fields func(*T) []any, query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := []T{}
	for rows.Next() {
		var item T
		if err := rows.Scan(fields(&item)...); err != nil {
			return nil, err
		}
		found = append(found, item)
	}
	return found, rows.Err()
}

// one is collect for a query with at most one row. If there is no row, it returns sql.ErrNoRows.
func one[T any](ctx context.Context, q querier, fields func(*T) []any, query string, args ...any) (item T, err error) {
	found, err := collect(ctx, q, fields, query, args...)
	if err == nil && len(found) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return item, err
	}
	return found[0], nil
}

// The columns that memoryFields reads: all, or all but the embedding, which is
// the largest part of a row.
const (
	recordColumns = `id, app_id, user_id, agent_id, conversation_id, coalesce(source_turn_id, ''), speaker, asked, content,
		memory_type, domain, tags, importance_score, metadata, pinned, status, faded, coalesce(superseded_by, ''),
		created_at, last_said_at, expires_at, updated_at, last_accessed_at, access_count, `
	bareColumns    = recordColumns + `lexemes, embedding_model, revision, `
	memoryColumns  = bareColumns + `embedding, ` + besideColumns
	withoutVectors = bareColumns + noVectors
	noVectors      = `NULL, '', NULL`
	besideColumns  = `coalesce((SELECT model FROM reembeddings WHERE memory_id = id), ''),
		(SELECT reembeddings.embedding FROM reembeddings WHERE memory_id = id)`
)

func memoryFields(m *memory.Memory) []any {
	return []any{
		&m.ID, &m.AppID, &m.UserID, &m.AgentID, &m.ConversationID, &m.SourceTurnID, &m.Speaker, &m.Asked, &m.Content,
		&m.Type, &m.Domain, (*tagList)(&m.Tags), &m.Importance, (*[]byte)(&m.Metadata), &m.Pinned, &m.Status, &m.Faded,
		&m.SupersededBy,
		(*instant)(&m.CreatedAt), (*instant)(&m.LastSaidAt), (*instant)(&m.ExpiresAt), (*instant)(&m.UpdatedAt),
		(*instant)(&m.LastAccessedAt), &m.AccessCount,
		&m.Lexemes, &m.EmbeddingModel, &m.Revision, (*vector)(&m.Embedding), &m.OtherModel, (*vector)(&m.OtherEmbedding),
	}
}

// Columns whose values are not of a type of SQLite.
type (
	tagList    []string    // JSON array; an empty one is nil
	formerList []db.Former // likewise
	vector     = sqlstore.Vector
)

func (l *tagList) Scan(column any) error { return scanList(column, (*[]string)(l), "tags") }

func (l *formerList) Scan(column any) error {
	return scanList(column, (*[]db.Former)(l), "superseded memories")
}

// scanList reads a JSON array. It makes an empty one nil.
func scanList[V any](column any, list *[]V, name string) error {
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("the %s are a %T", name, column)
	}
	var found []V
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		return fmt.Errorf("read the %s: %w", name, err)
	}
	*list = nil
	if len(found) > 0 {
		*list = found
	}
	return nil
}
