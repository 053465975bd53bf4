package speed

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
	"golang.org/x/sync/errgroup"

	"hippocampus/cmd/bench/target"
)

// prepareWrites creates empty tables and an empty collection with the layout of the
// server's, so that the floor does not write to the server's tables and collection.
func (f *floor) prepareWrites(ctx context.Context) error {
	for _, statement := range []string{
		`CREATE TABLE IF NOT EXISTS floor_turns (LIKE turns INCLUDING ALL)`,
		`CREATE TABLE IF NOT EXISTS floor_agent_memories (LIKE agent_memories INCLUDING ALL)`,
		`ALTER TABLE floor_agent_memories ADD COLUMN IF NOT EXISTS embedding bytea`,
		`ALTER TABLE floor_agent_memories ALTER COLUMN embedding SET STORAGE EXTERNAL`,
	} {
		if _, err := f.database.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if has, err := f.milvus.HasCollection(ctx, f.scratch()); err != nil || has {
		return err
	}
	described, err := f.milvus.DescribeCollection(ctx, f.collection)
	if err != nil {
		return err
	}
	schema := entity.NewSchema().WithName(f.scratch())
	for _, field := range described.Schema.Fields {
		schema = schema.WithField(field)
	}
	partitions, err := f.milvus.ShowPartitions(ctx, described.Name)
	if err != nil {
		return err
	}
	if err := f.milvus.CreateCollection(ctx, schema, 1, client.WithPartitionNum(int64(len(partitions)))); err != nil {
		return err
	}
	index, err := entity.NewIndexFlat(entity.COSINE)
	if err != nil {
		return err
	}
	if err := f.milvus.CreateIndex(ctx, f.scratch(), "embedding", index, false); err != nil {
		return err
	}
	return f.milvus.LoadCollection(ctx, f.scratch(), false)
}

func (f *floor) scratch() string { return f.collection + "_floor" }

// fresh is a new memory as the floor writes it.
type fresh struct {
	id string
	target.Memory
	vector []float32
	at     time.Time
}

func (f *floor) fresh(m target.Memory) fresh {
	return fresh{
		id: uuid.Must(uuid.NewV7()).String(), Memory: m, vector: target.Vector(m.Content, f.dim), at: time.Now(),
	}
}

// columns of the floor's rows, the same as a server writes.
var columns = []string{
	"id", "app_id", "user_id", "agent_id", "conversation_id", "content", "content_hash", "memory_type", "domain", "tags",
	"importance_score", "pinned", "status", "created_at", "updated_at", "last_accessed_at", "access_count",
	"lexemes", "revision",
	"vector_state", "vector_attempts", "vector_since", "vector_due", "vector_claims", "embedding_model", "embedding",
}

func (m fresh) row() []any {
	hash := sha256.Sum256([]byte(m.Content))
	return []any{
		m.id, "bench", m.UserID, "", m.ConversationID, m.Content, hash[:], "fact", "general_chat", []string{},
		m.Importance, false, "active", m.at, m.at, m.at, 0, m.Content, 1,
		"synced", 0, m.at, m.at, 1, "bench", target.Bytes(m.vector),
	}
}

var insertMemory = func() string {
	places := make([]string, len(columns))
	for i := range columns {
		places[i] = fmt.Sprint("$", i+1)
	}
	return fmt.Sprintf("INSERT INTO floor_agent_memories (%s) VALUES (%s)",
		strings.Join(columns, ", "), strings.Join(places, ", "))
}()

// write is one INSERT transaction, then one Insert into Milvus.
func (f *floor) write(ctx context.Context, m target.Memory) error {
	written := f.fresh(m)
	tx, err := f.database.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, insertMemory, written.row()...); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	return f.insert(ctx, []fresh{written})
}

// load is one COPY and one Insert for each batch; the next batch is copied
// while one is inserted.
func (f *floor) load(ctx context.Context, batches [][]fresh) error {
	group, ctx := errgroup.WithContext(ctx)
	copied := make(chan []fresh, 1)
	group.Go(func() error {
		for batch := range copied {
			if err := f.insert(ctx, batch); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		defer close(copied)
		for _, batch := range batches {
			rows := pgx.CopyFromSlice(len(batch), func(i int) ([]any, error) { return batch[i].row(), nil })
			if _, err := f.database.CopyFrom(ctx, pgx.Identifier{"floor_agent_memories"}, columns, rows); err != nil {
				return err
			}
			select {
			case copied <- batch:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// insert is one Insert into Milvus.
func (f *floor) insert(ctx context.Context, batch []fresh) error {
	texts := func(name string, of func(fresh) string) entity.Column {
		values := make([]string, len(batch))
		for i, m := range batch {
			values[i] = of(m)
		}
		return entity.NewColumnVarChar(name, values)
	}
	same := func(value string) func(fresh) string { return func(fresh) string { return value } }
	vectors, times := make([][]float32, len(batch)), make([]int64, len(batch))
	for i, m := range batch {
		vectors[i], times[i] = m.vector, m.at.UnixMilli()
	}
	_, err := f.milvus.Insert(ctx, f.scratch(), "",
		texts("id", func(m fresh) string { return m.id }),
		entity.NewColumnFloatVector("embedding", f.dim, vectors),
		texts("app_id", same("bench")), texts("user_id", func(m fresh) string { return m.UserID }),
		texts("agent_id", same("")), texts("domain", same("general_chat")), texts("memory_type", same("fact")),
		texts("content", func(m fresh) string { return m.Content }), entity.NewColumnInt64("created_at", times))
	return err
}

// turn is one INSERT of a turn.
func (f *floor) turn(ctx context.Context, user, messages string) error {
	_, err := f.database.Exec(ctx, `
		INSERT INTO floor_turns (id, app_id, user_id, agent_id, conversation_id, messages, said_at, hash, status, attempts,
			last_error, accepted_at, queued_at, due_at)
		VALUES ($1, 'bench', $2, '', '', $3, $4, 'hash', 'accepted', 0, '', $4, $4, $4)`,
		uuid.Must(uuid.NewV7()).String(), user, messages, time.Now())
	return err
}
