package milvus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"hippocampus/vectorstore"
)

// The consistency levels in use. Strong waits 200 to 400 ms for all writes
// under way; Bounded answers in 2 ms and may miss the last seconds.
var (
	strong     = client.WithSearchQueryConsistencyLevel(entity.ClStrong)
	bounded    = client.WithSearchQueryConsistencyLevel(entity.ClBounded)
	eventually = client.WithSearchQueryConsistencyLevel(entity.ClEventually)
)

// minEF is the least size of the candidate list of an HNSW search (ef).
const minEF = 64

// Search finds the nearest records at Bounded consistency. Of records with equal
// similarity at the limit, an arbitrary subset is returned.
func (s *Store) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	if err := vectorstore.CheckQuery(s.options.Space, q); err != nil {
		return nil, err
	}
	// FLAT has no parameters and ignores this one.
	ef, err := entity.NewIndexHNSWSearchParam(max(q.Limit, minEF))
	if err != nil {
		return nil, fmt.Errorf("searching vectors: %w", err)
	}
	var hits []vectorstore.Hit
	err = s.read(ctx, "searching vectors", func(ctx context.Context) error {
		results, err := s.client.Search(ctx, s.alias, nil, filter(q), nil,
			[]entity.Vector{entity.FloatVector(q.Embedding)}, fieldEmbedding, entity.COSINE, q.Limit, ef, bounded)
		if err != nil {
			return err
		}
		hits, err = hitsOf(results)
		return err
	})
	return hits, err
}

// hitsOf checks and orders the results of a search with one vector.
func hitsOf(results []client.SearchResult) ([]vectorstore.Hit, error) {
	if len(results) != 1 {
		return nil, fmt.Errorf("the answer has %d results for one vector", len(results))
	}
	result := results[0]
	ids, ok := result.IDs.(*entity.ColumnVarChar)
	switch {
	case result.Err != nil:
		return nil, result.Err
	case !ok || ids.Len() != len(result.Scores):
		return nil, errors.New("the ids of the answer do not match its scores")
	}
	hits := make([]vectorstore.Hit, ids.Len())
	for i, id := range ids.Data() {
		// Rounding may put the cosine of a vector with itself slightly above 1.
		hits[i] = vectorstore.Hit{ID: id, Similarity: max(-1, min(1, float64(result.Scores[i])))}
	}
	slices.SortFunc(hits, vectorstore.CompareHits)
	return hits, nil
}
