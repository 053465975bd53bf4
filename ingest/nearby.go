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

// nearbyLimit bounds the neighbours of a draft that are compared.
const nearbyLimit = 20

// search finds memories of one owner that drafts may be merged into. It is not safe for
// concurrent use.
type search struct {
	s     *Service
	owner memory.Owner

	away       bool // the vector store is unavailable: the newest memories are compared here
	ids        []string
	embeddings map[string][]float32
}

func (s *Service) search(owner memory.Owner) *search { return &search{s: s, owner: owner} }

// near returns ids of memories that a draft may be merged into. Memories written in the last
// seconds may be missing; the transaction reads those itself.
func (n *search) near(ctx context.Context, draft memory.Memory) ([]string, error) {
	if n.away {
		return n.compare(draft), nil
	}
	hits, err := n.s.Vectors.Search(ctx, vectorstore.Query{
		Owner: n.owner, Embedding: draft.Embedding, Limit: nearbyLimit, AgentID: draft.AgentID,
		Types: mergeable,
		Space: memory.Space{Model: draft.EmbeddingModel, Dim: len(draft.Embedding)},
	})
	if err != nil {
		n.s.Log.Warn("duplicates are searched in the database: the vector store is unavailable", zap.Error(err))
		if err := n.read(ctx, draft.EmbeddingModel); err != nil {
			return nil, err
		}
		return n.compare(draft), nil
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, nil
}

// read loads the embeddings of the owner's newest memories by a model.
func (n *search) read(ctx context.Context, model string) error {
	docs, err := n.s.Records.Documents(ctx, n.owner)
	if err != nil {
		return err
	}
	docs = slices.DeleteFunc(docs, func(d db.Document) bool { return d.Type == memory.TypeMessage })
	slices.SortFunc(docs, func(a, b db.Document) int { return b.CreatedAt.Compare(a.CreatedAt) })
	for _, d := range docs[:min(len(docs), n.s.set.FallbackLimit)] {
		n.ids = append(n.ids, d.ID)
	}
	n.embeddings, err = n.s.Records.Embeddings(ctx, n.owner, model, n.ids)
	n.away = err == nil
	return err
}

func (n *search) compare(draft memory.Memory) []string {
	similarity := make(map[string]float64, len(n.ids))
	for _, id := range n.ids {
		similarity[id] = cosine(n.embeddings[id], draft.Embedding)
	}
	ids := slices.Clone(n.ids)
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(similarity[b], similarity[a]) })
	return ids[:min(len(ids), nearbyLimit)]
}
