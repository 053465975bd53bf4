package ingest

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// embed makes a draft memory of every kept candidate, by the candidate's index, and completes
// the messages, all with one call of the embedder unless that refuses a text. It leaves out
// messages that the embedder refuses. turnOf returns the turn of an index.
func (s *Service) embed(
	ctx context.Context, turnOf func(int) memory.Turn, candidates []memory.Candidate, messages []memory.Memory,
) (drafts map[int]memory.Memory, complete []memory.Memory, err error) {
	var places []int
	var facts []string
	for i, c := range candidates {
		if c.Verdict == memory.Kept {
			places, facts = append(places, i), append(facts, c.Content)
		}
	}
	if len(facts)+len(messages) == 0 {
		return nil, nil, nil
	}
	ctx, embedding := tracing.Start(ctx, "ingest.embed")
	defer func() { tracing.End(embedding, err) }()
	by := llm.Serving(s.Embedder)
	vectors, ofMessages, err := s.vectors(ctx, by, facts, messages)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range messages {
		if ofMessages[i] != nil {
			complete = append(complete, s.draft(m, ofMessages[i], by.Model()))
		}
	}
	drafts = make(map[int]memory.Memory, len(places))
	for n, i := range places {
		c, turn := candidates[i], turnOf(i)
		drafts[i] = s.draft(memory.Memory{
			Owner: turn.Owner, AgentID: turn.AgentID, ConversationID: turn.ConversationID, SourceTurnID: turn.ID,
			Content: c.Content, Type: c.Type, Domain: c.Domain, Importance: c.Importance, CreatedAt: turn.At,
		}, vectors[n], by.Model())
	}
	return drafts, complete, nil
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
