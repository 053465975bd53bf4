package speed

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"hippocampus/cmd/bench/target"
)

// floor does the minimum that any server of these two stores must do, with the bare clients
// of the stores: the cost of recalls and writes without ranking and consistency.
type floor struct {
	database   *pgxpool.Pool
	milvus     client.Client
	collection string
	dim        int // both sides search and write vectors of this dimension
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
