package ingest

import (
	"cmp"
	"context"
	"slices"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// nearbyLimit is how many neighbours of a draft are looked at.
const nearbyLimit = 20

// nearby returns ids of memories that a draft may be the same as. Where the
// vector store is away the newest memories are compared in the database. What
// was written in the last seconds may be missing from either: the transaction
// looks for that itself.
func (s *Service) nearby(ctx context.Context, draft memory.Memory) ([]string, error) {
	hits, err := s.Vectors.Search(ctx, vectorstore.Query{
		Owner: draft.Owner, Embedding: draft.Embedding, Limit: nearbyLimit, AgentID: draft.AgentID,
	})
	if err != nil {
		s.Log.Warn("duplicates are looked for in the database: the vector store is away", zap.Error(err))
		return s.compare(ctx, draft)
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, nil
}

func (s *Service) compare(ctx context.Context, draft memory.Memory) ([]string, error) {
	docs, err := s.Records.Documents(ctx, draft.Owner)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(docs, func(a, b db.Document) int { return b.CreatedAt.Compare(a.CreatedAt) })
	ids := make([]string, 0, min(len(docs), s.set.FallbackLimit))
	for _, d := range docs[:cap(ids)] {
		ids = append(ids, d.ID)
	}
	embeddings, err := s.Records.Embeddings(ctx, draft.Owner, ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Compare(cosine(embeddings[b], draft.Embedding), cosine(embeddings[a], draft.Embedding))
	})
	return ids[:min(len(ids), nearbyLimit)], nil
}
