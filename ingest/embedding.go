package ingest

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// complete completes new memories with their embeddings: facts, and messages of turns, all with one call of the
// embedder unless that refuses a text. It leaves out messages that the embedder refuses. The ids of messages come
// before those of facts, which were derived from them.
func (s *Service) complete(ctx context.Context, facts, messages []memory.Memory) (
	completeFacts, completeMessages []memory.Memory, err error,
) {
	if len(facts)+len(messages) == 0 {
		return nil, nil, nil
	}
	ctx, embedding := tracing.Start(ctx, "ingest.embed")
	defer func() { tracing.End(embedding, err) }()
	by := llm.Serving(s.Embedder)
	ofFacts, ofMessages, err := s.vectors(ctx, by, embeddedTexts(facts), messages)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range messages {
		if ofMessages[i] != nil {
			completeMessages = append(completeMessages, write.Complete(m, ofMessages[i], by.Model(), s.Now()))
		}
	}
	for i, m := range facts {
		completeFacts = append(completeFacts, write.Complete(m, ofFacts[i], by.Model(), s.Now()))
	}
	return completeFacts, completeMessages, nil
}

// factOf returns the memory that a candidate of a turn describes, without an embedding.
func factOf(c memory.Candidate, turn memory.Turn) memory.Memory {
	return memory.Memory{
		Owner: turn.Owner, AgentID: turn.AgentID, ConversationID: turn.ConversationID, SourceTurnID: turn.ID,
		Content: c.Content, Type: c.Type, Domain: c.Domain, Importance: c.Importance, CreatedAt: turn.At,
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

// vectors embeds facts and messages with one call. If the embedder refuses it, vectors embeds
// the facts first; the vector of a message that the embedder refuses is nil.
func (s *Service) vectors(
	ctx context.Context, by llm.Embedder, facts []string, messages []memory.Memory,
) (ofFacts, ofMessages [][]float32, err error) {
	all, err := by.Embed(ctx, llm.ForDocument, append(slices.Clone(facts), embeddedTexts(messages)...))
	if err == nil {
		return all[:len(facts)], all[len(facts):], nil
	}
	if len(messages) == 0 || !llm.Refused(err) {
		return nil, nil, err
	}
	// An embedder that refuses even this text refuses every text, such as for an unpaid account.
	const harmless = "hello"
	ofFacts, err = by.Embed(ctx, llm.ForDocument, append(slices.Clone(facts), harmless))
	if err != nil {
		return nil, nil, err
	}
	ofMessages, err = s.accepted(ctx, by, messages)
	return ofFacts[:len(facts)], ofMessages, err
}

// accepted embeds the messages that the embedder accepts, and halves what it refuses until the
// refused message stands alone. The vector of such a message is nil.
func (s *Service) accepted(ctx context.Context, by llm.Embedder, messages []memory.Memory) ([][]float32, error) {
	vectors, err := by.Embed(ctx, llm.ForDocument, embeddedTexts(messages))
	if err == nil || !llm.Refused(err) {
		return vectors, err
	}
	if len(messages) == 1 {
		s.refusedCount.Add(1)
		s.Log.Warn("a message is not kept as a memory: the embedder refuses it",
			zap.String("turn", messages[0].SourceTurnID), zap.Int("bytes", len(messages[0].Content)), zap.Error(err))
		return make([][]float32, 1), nil
	}
	half := len(messages) / 2
	first, err := s.accepted(ctx, by, messages[:half])
	if err != nil {
		return nil, err
	}
	second, err := s.accepted(ctx, by, messages[half:])
	return append(first, second...), err
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
