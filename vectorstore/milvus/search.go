package milvus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"hippocampus/vectorstore"
)

// The consistency levels in use. Strong waits 200 to 400 ms for everything
// that is under way; Bounded answers in 2 ms and may miss the last seconds.
var (
	strong     = client.WithSearchQueryConsistencyLevel(entity.ClStrong)
	bounded    = client.WithSearchQueryConsistencyLevel(entity.ClBounded)
	eventually = client.WithSearchQueryConsistencyLevel(entity.ClEventually)
)

// minBreadth is the least candidate list of an HNSW search (its ef).
const minBreadth = 64

// Search finds the nearest records at Bounded consistency. Records of equal
// similarity at the limit are cut at random.
func (s *Store) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	if err := vectorstore.CheckQuery(s.options.Space, q); err != nil {
		return nil, err
	}
	// FLAT has no parameters and overlooks this one.
	breadth, err := entity.NewIndexHNSWSearchParam(max(q.Limit, minBreadth))
	if err != nil {
		return nil, fmt.Errorf("searching vectors: %w", err)
	}
	var hits []vectorstore.Hit
	err = s.read(ctx, "searching vectors", func(ctx context.Context, collection string) error {
		results, err := s.client.Search(ctx, collection, nil, filter(q), nil,
			[]entity.Vector{entity.FloatVector(q.Embedding)}, fieldEmbedding, entity.COSINE, q.Limit, breadth, bounded)
		if err != nil {
			return err
		}
		hits, err = hitsOf(results)
		return err
	})
	return hits, err
}

// hitsOf checks and orders what a search with one vector brought back.
func hitsOf(results []client.SearchResult) ([]vectorstore.Hit, error) {
	if len(results) != 1 {
		return nil, fmt.Errorf("%d results came back for one vector", len(results))
	}
	result := results[0]
	ids, ok := result.IDs.(*entity.ColumnVarChar)
	switch {
	case result.Err != nil:
		return nil, result.Err
	case !ok || ids.Len() != len(result.Scores):
		return nil, errors.New("ids and scores came back that do not match")
	}
	hits := make([]vectorstore.Hit, ids.Len())
	for i, id := range ids.Data() {
		// Rounding leaves the cosine of a vector with itself just beside 1.
		hits[i] = vectorstore.Hit{ID: id, Similarity: max(-1, min(1, float64(result.Scores[i])))}
	}
	slices.SortFunc(hits, func(a, b vectorstore.Hit) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.ID, b.ID))
	})
	return hits, nil
}
