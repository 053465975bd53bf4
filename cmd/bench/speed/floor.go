package speed

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"hippocampus/cmd/bench/target"
)

// floor is the least that any server of these two stores must do, by their
// bare clients: what recall and writes cost before anything is ranked or kept
// true.
type floor struct {
	database   *pgxpool.Pool
	milvus     client.Client
	collection string
	dim        int // any vectors will do: both sides search and write as many numbers
}

func openFloor(ctx context.Context, stores *target.Stores) (*floor, error) {
	pool, err := pgxpool.New(ctx, stores.Database)
	if err != nil {
		return nil, err
	}
	milvus, err := client.NewClient(ctx, client.Config{Address: stores.Milvus})
	if err != nil {
		pool.Close()
		return nil, err
	}
	described, err := milvus.DescribeCollection(ctx, stores.Collection)
	if err != nil {
		pool.Close()
		return nil, errors.Join(err, milvus.Close())
	}
	f := &floor{database: pool, milvus: milvus, collection: stores.Collection}
	for _, field := range described.Schema.Fields {
		if dim, ok := field.TypeParams[entity.TypeParamDim]; ok {
			if f.dim, err = strconv.Atoi(dim); err != nil {
				f.close()
				return nil, fmt.Errorf("dimension of %s: %w", field.Name, err)
			}
		}
	}
	return f, nil
}

func (f *floor) close() {
	f.database.Close()
	_ = f.milvus.Close()
}

const floorHits = 50

// recall is one filtered search for 50 ids, then one SELECT of those rows.
func (f *floor) recall(ctx context.Context, user, query string) error {
	search, err := entity.NewIndexFlatSearchParam()
	if err != nil {
		return err
	}
	found, err := f.milvus.Search(ctx, f.collection, nil, fmt.Sprintf("user_id == %q", user), nil,
		[]entity.Vector{entity.FloatVector(target.Vector(query, f.dim))}, "embedding", entity.COSINE, floorHits, search,
		client.WithSearchQueryConsistencyLevel(entity.ClBounded))
	if err != nil {
		return err
	}
	ids := make([]string, 0, floorHits)
	for _, result := range found {
		for i := range result.ResultCount {
			id, err := result.IDs.GetAsString(i)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return fmt.Errorf("the floor's search finds nothing of %s", user)
	}
	rows, err := f.database.Query(ctx, `
		SELECT id, content, domain, memory_type, importance_score, created_at, last_accessed_at, access_count, status
		FROM agent_memories WHERE id = ANY($1)`, ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var id, content, domain, kind, status string
		var importance float64
		var created, accessed time.Time
		var count int
		if err := rows.Scan(&id, &content, &domain, &kind, &importance, &created, &accessed, &count, &status); err != nil {
			return err
		}
		n++
	}
	if n != len(ids) {
		return fmt.Errorf("the floor's SELECT finds %d of %d rows", n, len(ids))
	}
	return rows.Err()
}

// prepareWrites makes empty tables and an empty collection shaped as the
// server's, so that the floor's writes disturb nothing.
func (f *floor) prepareWrites(ctx context.Context) error {
	for _, table := range []string{"agent_memories", "turns"} {
		if _, err := f.database.Exec(ctx, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS floor_%s (LIKE %s INCLUDING ALL)`, table, table)); err != nil {
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

// write is one INSERT transaction, then one Insert into Milvus.
func (f *floor) write(ctx context.Context, m target.Memory) error {
	vector := target.Vector(m.Content, f.dim)
	id := uuid.Must(uuid.NewV7()).String()
	at := time.Now()
	tx, err := f.database.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, `
		INSERT INTO floor_agent_memories (id, app_id, user_id, agent_id, conversation_id, content, content_hash, memory_type, domain,
			tags, importance_score, pinned, status, created_at, updated_at, last_accessed_at, access_count, lexemes, revision,
			vector_state, vector_attempts, vector_since, vector_due, vector_claims, embedding_model, embedding)
		VALUES ($1, 'bench', $2, '', $3, $4, sha256(convert_to($4::text, 'UTF8')), 'fact', 'general_chat',
			'{}', $5, false, 'active', $6, $6, $6, 0, $7, 1, 'synced', 0, $6, $6, 1, 'bench', $8)`,
		id, m.UserID, m.ConversationID, m.Content, m.Importance, at, m.Content, target.Bytes(vector)); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	text := func(name, value string) entity.Column { return entity.NewColumnVarChar(name, []string{value}) }
	_, err = f.milvus.Insert(ctx, f.scratch(), "",
		text("id", id), entity.NewColumnFloatVector("embedding", len(vector), [][]float32{vector}), text("app_id", "bench"),
		text("user_id", m.UserID), text("agent_id", ""), text("domain", "general_chat"), text("memory_type", "fact"),
		text("content", m.Content), entity.NewColumnInt64("created_at", []int64{at.UnixMilli()}))
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
