package ingest

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"

	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// complete completes new memories with their embeddings, all with one call of the embedder. If that refuses some
// texts, the error is a *llm.RefusedTexts, and their memories have no embedding.
func (s *Service) complete(ctx context.Context, memories []memory.Memory) (complete []memory.Memory, err error) {
	if len(memories) == 0 {
		return nil, nil
	}
	ctx, embedding := tracing.Start(ctx, "ingest.embed")
	defer func() { tracing.End(embedding, err) }()
	by := llm.Serving(s.Embedder)
	vectors, err := by.Embed(ctx, llm.ForDocument, embeddedTexts(memories))
	if vectors == nil {
		return nil, err
	}
	for i, m := range memories {
		complete = append(complete, write.Complete(m, vectors[i], by.Model(), s.Now()))
	}
	return complete, err
}

// completeMessages completes messages of turns, and leaves out those that the embedder refuses.
func (s *Service) completeMessages(ctx context.Context, messages []memory.Memory) ([]memory.Memory, error) {
	complete, err := s.complete(ctx, messages)
	refused, err := refusedTexts(err)
	return s.withoutRefused(complete, refused), err
}

// refusedTexts splits an error of complete: some texts were refused, or else nothing was embedded.
func refusedTexts(err error) (refused *llm.RefusedTexts, failed error) {
	if errors.As(err, &refused) {
		return refused, nil
	}
	return nil, err
}

// withoutRefused leaves out the messages that have no embedding.
func (s *Service) withoutRefused(messages []memory.Memory, refused *llm.RefusedTexts) []memory.Memory {
	return slices.DeleteFunc(messages, func(m memory.Memory) bool {
		if m.Embedding != nil {
			return false
		}
		s.refusedCount.Add(1)
		s.Log.Warn("a message is not kept as a memory: the embedder refuses it",
			zap.String("turn", m.SourceTurnID), zap.Int("bytes", len(m.Content)), zap.Error(refused))
		return true
	})
}

// factOf returns the memory that a candidate of a turn describes, without an embedding.
func factOf(c memory.Candidate, turn memory.Turn) memory.Memory {
	speaker, at := statedBy(c.Content, turn)
	return memory.Memory{
		Owner: turn.Owner, AgentID: turn.AgentID, ConversationID: turn.ConversationID, SourceTurnID: turn.ID,
		Speaker: speaker, CreatedAt: at,
		Content: c.Content, Type: c.Type, Domain: c.Domain, Importance: c.Importance,
	}
}

// draftsOf returns complete memories as drafts that are compared alike.
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

// Refused counts the messages that were not kept since the embedder refused them. A turn that
// is processed again counts again.
func (s *Service) Refused() int64 { return s.refusedCount.Load() }
