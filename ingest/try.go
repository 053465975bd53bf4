package ingest

import (
	"context"

	"hippocampus/ingest/policy"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// Try returns what would become of a turn: its candidates with their first verdicts, before they are compared with
// memories, and what is left out of its messages. It stores nothing. Unless they are nil, rules decide instead of the
// app's policy. A chat model is asked as it is for an accepted turn, and nothing takes its place. KindUnavailable: the
// model does not answer.
func (s *Service) Try(ctx context.Context, turn memory.Turn, rules *policy.Rules) (o Outcome, err error) {
	ctx = llm.ForApp(ctx, turn.AppID)
	if rules == nil {
		if rules, err = s.policyOf(ctx, turn.AppID); err != nil {
			return o, err
		}
	}
	now := memory.Instant(s.Now())
	turn = dated(turn, now)
	turn.ID = memory.NewID()
	turn.AcceptedAt, turn.QueuedAt = now, now
	turn.Status, turn.ProcessedAt = memory.TurnProcessed, now
	if turn, err = s.withMode(ctx, turn); err != nil {
		return o, err
	}
	if turn.ExpiresAt, err = s.endOf(ctx, turn.Owner, turn.Expires); err != nil {
		return o, err
	}
	if turn, err = s.unrepeated(ctx, turn); err != nil {
		return o, err
	}
	if !turn.Memory.Keeps() {
		return Outcome{Turn: unkept(turn)}, nil
	}
	if turn.Zone, err = s.Zone.Of(ctx, turn.Owner); err != nil {
		return o, err
	}
	r, err := s.reading(ctx, rules, turn)
	if err != nil {
		return o, err
	}
	var facts []scorer.Fact
	if len(r.question.Messages) > 0 {
		if facts, err = s.Scorer.Score(ctx, r.question.Turn, r.question.before); err != nil {
			return o, err
		}
	}
	facts, never := splitNever(facts)
	r = s.without(r, never)
	_, leftOut := s.messages(r.turn, memory.LastSpoken(r.before), r.echoes)
	r.turn.LeftOut = inOrder(r.turn.LeftOut, leftOut)
	candidates, err := s.verdicts(ctx, r, facts, never)
	return Outcome{Turn: r.turn, Candidates: candidates}, err
}

// unrepeated returns a turn without the messages that the log of its conversation has.
func (s *Service) unrepeated(ctx context.Context, turn memory.Turn) (memory.Turn, error) {
	if turn.ConversationID == "" {
		return turn, nil
	}
	before, _, err := s.saidBefore(ctx, turn, nil)
	if err != nil {
		return turn, err
	}
	known, err := s.identify(ctx, turn, before, nil)
	if err != nil {
		return turn, err
	}
	all := len(turn.Messages)
	turn.Messages = known.news(turn)
	turn.Repeated = all - len(turn.Messages)
	turn.FirstEvent = before.log.Events + 1
	return turn, nil
}
