package recall

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// embedded is a query's embedding where it is kept from an earlier one.
func (s *Service) embedded(by llm.Embedder, query string) (vector []float32, kept bool) {
	vector, kept = s.queries.Get(by.Model() + "\x00" + query)
	if len(vector) != by.Dim() {
		return nil, false
	}
	return vector, kept
}

// embed returns nil when the embedder is away.
func (s *Service) embed(ctx context.Context, by llm.Embedder, query string) []float32 {
	ctx, cancel := context.WithTimeout(ctx, s.set.EmbedTimeout)
	defer cancel()
	vectors, err := by.Embed(ctx, llm.ForQuery, []string{query})
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			s.log.Warn("recall goes on without the query's embedding", zap.Error(err))
		}
		return nil
	}
	s.queries.Add(by.Model()+"\x00"+query, vectors[0], 4*len(vectors[0]))
	return vectors[0]
}

// reembed embeds own writes that were embedded by another model, as it comes
// about when another one has just begun to serve. Where that fails, words decide.
func (s *Service) reembed(ctx context.Context, seen sight) {
	var places []int
	var texts []string
	for i := range seen.own {
		if !seen.comparable(&seen.own[i]) && len(texts) < maxReembedded {
			places, texts = append(places, i), append(texts, seen.own[i].Content)
		}
	}
	if len(texts) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.set.EmbedTimeout)
	defer cancel()
	vectors, err := seen.embedder.Embed(ctx, llm.ForDocument, texts)
	if err != nil {
		s.log.Warn("recall goes on without some of the newest writes' embeddings", zap.Error(err))
		return
	}
	for i, place := range places {
		seen.own[place].Embedding, seen.own[place].EmbeddingModel = vectors[i], seen.embedder.Model()
	}
}

// maxReembedded bounds what one recall embeds beside its query.
const maxReembedded = 50

// embedding is a memory's in the query's space; nil: it has none.
func (seen *sight) embedding(m *memory.Memory) []float32 {
	return m.EmbeddingIn(llm.SpaceOf(seen.embedder))
}

// comparable reports whether a memory has one.
func (seen *sight) comparable(m *memory.Memory) bool { return seen.embedding(m) != nil }
