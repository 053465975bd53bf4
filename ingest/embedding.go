package ingest

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/internal/tracing"
)

// complete completes new memories with their embeddings, all with one call of the embedder. Memories whose texts the
// embedder refuses are WordsOnly.
func (s *Service) complete(ctx context.Context, memories []memory.Memory) ([]memory.Memory, error) {
	complete, err := s.embed(ctx, memories)
	for i, m := range complete {
		complete[i] = write.Complete(m, m.Embedding, m.EmbeddingModel, s.Now())
	}
	return complete, err
}

// embed returns memories with their embeddings, all from one call of the embedder. Memories whose texts the embedder
// refuses are WordsOnly.
func (s *Service) embed(ctx context.Context, memories []memory.Memory) (embedded []memory.Memory, err error) {
	if len(memories) == 0 {
		return nil, nil
	}
	ctx, embedding := tracing.Start(ctx, "ingest.embed")
	defer func() { tracing.End(embedding, err) }()
	by := llm.Serving(s.Embedder)
	vectors, err := by.Embed(ctx, llm.ForDocument, embeddedTexts(memories))
	var refused *llm.RefusedTexts
	if err != nil && !errors.As(err, &refused) {
		return nil, err
	}
	for i, m := range memories {
		m.Embed(vectors[i], by.Model())
		if m.WordsOnly() {
			s.refusedCount.Add(1)
			s.Log.Warn("a memory has no embedding: the embedder refuses its text, also in parts",
				zap.String("memory", m.ID), zap.Int("bytes", len(m.Content)), zap.Error(refused))
		}
		embedded = append(embedded, m)
	}
	return embedded, nil
}

// isLost reports whether no search would find a complete memory: the embedder refuses its text, which has no words.
func isLost(m memory.Memory) bool {
	return m.WordsOnly() && len(text.Lexemes(m.EmbeddedText())) == 0
}

// factOf returns the memory that a candidate of a turn describes, without an embedding.
func factOf(c memory.Candidate, turn memory.Turn) memory.Memory {
	speaker, at := statedBy(c.Content, turn)
	fact := memory.Memory{
		Owner: turn.Owner, AgentID: turn.AgentID, ConversationID: turn.ConversationID, SourceTurnID: turn.ID,
		Speaker: speaker, CreatedAt: at,
		Content: c.Content, Type: c.Type, Domain: c.Domain, Importance: c.Importance,
		ExpiresAt: c.ExpiresAt, Tags: c.Tags,
	}
	if turn.Shared.Is() && speaker != "" {
		fact.Metadata = memory.SaidOf(turn.Shared.Name)
	}
	return fact
}

// draftsOf returns complete memories as drafts that all have the same comparison.
func draftsOf(memories []memory.Memory, compare write.Comparison) []write.Draft {
	drafts := make([]write.Draft, len(memories))
	for i, m := range memories {
		drafts[i] = write.Draft{Memory: m, Compare: compare}
	}
	return drafts
}

func embeddedTexts(memories []memory.Memory) []string {
	texts := make([]string, len(memories))
	for i := range memories {
		texts[i] = memories[i].EmbeddedText()
	}
	return texts
}

// Refused returns the number of memories that have no embedding because the embedder refused their texts. A turn that
// is processed again counts again.
func (s *Service) Refused() int64 { return s.refusedCount.Load() }
