package ingest

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
	"hippocampus/scorer"
)

// fallBack lets rules take the facts of a turn whose scorer has failed with cause, until the scorer answers. After the
// first failure it does nothing if the failure may pass, since most failures pass within a second.
func (s *Service) fallBack(
	ctx context.Context, turn memory.Turn, r reading, messages []memory.Memory, cause error,
) {
	if s.Rules == nil || ctx.Err() != nil || turn.LastError == "" && !isLasting(cause) {
		return
	}
	if err := s.takeByRules(ctx, turn, r, messages); err != nil && !errors.Is(err, errFinished) {
		s.Log.Warn("the facts of a turn could not be taken by rules while the model fails",
			zap.String("turn", turn.ID), tracing.Log(ctx), zap.Error(err))
	}
}

// isLasting reports whether the scorer would fail in the same way again: its answer stays bad after a correction, or
// the app has used up its quota of tokens.
func isLasting(cause error) bool {
	var bad *scorer.BadAnswer
	return errors.As(cause, &bad) && bad.Corrected || memory.LimitOf(cause) != ""
}

func (s *Service) takeByRules(
	ctx context.Context, turn memory.Turn, r reading, messages []memory.Memory,
) error {
	if taken, err := s.takenByRules(ctx, turn); err != nil || len(taken) > 0 {
		return err
	}
	facts, err := s.Rules.Score(ctx, r.question.Turn, r.question.before)
	if err != nil {
		return err
	}
	candidates := s.gate(r.rules, turn, s.Rules.Name(), r.gate, facts, r.echoes)
	candidates = slices.DeleteFunc(candidates, func(c memory.Candidate) bool { return c.Verdict != memory.Kept })
	if len(candidates) == 0 {
		return nil
	}
	drafts, places, _, err := s.drafts(ctx, turn, candidates, messages, true)
	if err != nil {
		return err
	}
	for i := range drafts {
		drafts[i].Compare = write.WithoutModel
	}
	_, err = s.Writer.Write(ctx, write.Batch{
		Owner: turn.Owner, Cause: causeOf(turn), Drafts: drafts,
		First: func(ctx context.Context, tx db.UserTx) error { return isAsRead(ctx, tx, turn) },
		Also: func(ctx context.Context, tx db.UserTx, _ *history.Recorder, written []write.Written) error {
			for i, w := range written {
				c := &candidates[places[i]]
				settle(c, w)
				c.Reason += "; taken by rules until the model answers"
			}
			return tx.AddCandidates(ctx, candidates)
		},
	})
	return err
}

// takenByRules returns the candidates of a turn that rules have taken while the scorer failed.
func (s *Service) takenByRules(ctx context.Context, turn memory.Turn) ([]memory.Candidate, error) {
	candidates, err := s.Records.TurnCandidates(ctx, turn.AppID, turn.ID)
	return slices.DeleteFunc(candidates, func(c memory.Candidate) bool { return c.Scorer != scorer.RulesName }), err
}

// takeBackRules takes back the facts that rules took from a turn, since the scorer has answered.
func (s *Service) takeBackRules(ctx context.Context, turn memory.Turn) error {
	taken, err := s.takenByRules(ctx, turn)
	if err != nil || len(taken) == 0 {
		return err
	}
	for range plans {
		w := &withdrawal{forgetting: forgetting{
			Service: s, by: llm.Serving(s.Embedder), owner: turn.Owner, turn: &turn, keepsTurn: true,
		}}
		memories, err := w.heldBy(ctx, nil, taken)
		if err != nil {
			return err
		}
		if err := w.planMemories(ctx, memories); err != nil {
			return err
		}
		_, err = w.run(ctx, func(ctx context.Context, tx db.UserTx) error {
			if err := isAsRead(ctx, tx, turn); err != nil {
				return err
			}
			return tx.RemoveCandidates(ctx, turn.ID, scorer.RulesName)
		})
		if !errors.Is(err, errOutdated) {
			return err
		}
	}
	return errOutdated
}
