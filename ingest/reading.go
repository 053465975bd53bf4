package ingest

import (
	"context"

	"hippocampus/ingest/policy"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// reading is what a worker knows of a turn before its facts are proposed.
type reading struct {
	rules    *policy.Rules
	gate     memory.Threshold
	accepted memory.Turn // with the messages as they were said, and all that is withheld of them
	stored   int         // parts that are withheld of the stored turn
	turn     memory.Turn // with the words that are read, see read
	echoes   echoes
	before   []memory.Message
	question question
}

// reading reads what is known of a turn.
func (s *Service) reading(ctx context.Context, rules *policy.Rules, turn memory.Turn) (r reading, err error) {
	r = reading{rules: rules, stored: len(turn.Withheld)}
	turn.Policy = rules.Policy()
	turn.Scored = memory.Scoring{By: s.Scorer.Name(), Policy: rules.Version()}
	if r.gate, err = s.gateOf(ctx, turn.AppID); err != nil {
		return r, err
	}
	r.accepted = s.cut(rules, turn)
	r.turn = s.read(r.accepted)
	if r.echoes, err = s.echoes(ctx, r.turn); err != nil {
		return r, err
	}
	if r.before, err = s.before(ctx, r.turn, max(s.set.Before, 1)); err != nil {
		return r, err
	}
	r.question = s.question(r.turn, r.before)
	return r, nil
}

// cuts reports whether more is withheld of the turn than of the stored turn.
func (r reading) cuts() bool { return len(r.accepted.Withheld) > r.stored }

// without returns a reading without the words that a model found to be never kept.
func (s *Service) without(r reading, never []string) reading {
	if len(never) == 0 {
		return r
	}
	r.accepted = s.cutQuotes(r.rules, r.accepted, never)
	r.turn = s.read(r.accepted)
	r.question.Turn = r.turn
	r.question.Messages = scorable(r.turn)
	return r
}

// verdicts gives each proposed fact of a turn its first verdict. never are the words that a model found to be never
// kept.
func (s *Service) verdicts(
	ctx context.Context, r reading, facts []scorer.Fact, never []string,
) ([]memory.Candidate, error) {
	candidates := s.gate(r.rules, r.turn, s.Scorer.Name(), r.gate, facts, r.echoes)
	candidates = withoutOthers(r.turn, r.before, candidates)
	if err := s.keepUpdates(ctx, r, candidates); err != nil {
		return nil, err
	}
	refuseUnsaid(r.question, candidates)
	if len(never) > 0 {
		hideUnsaid(candidates, r.rules)
	}
	return candidates, nil
}

// rememberJudged takes a turn through the stages of a write if a model finds what is never kept: nothing of it becomes
// a memory before the model answers. It is called for turns that a model is asked about.
func (s *Service) rememberJudged(ctx context.Context, r reading) error {
	facts, err := s.score(ctx, r.question)
	if err != nil {
		return err
	}
	facts, never := splitNever(facts)
	r = s.without(r, never)
	messages, leftOut := s.messages(r.turn, memory.LastSpoken(r.before), r.echoes)
	turn := r.turn
	turn.LeftOut = inOrder(turn.LeftOut, leftOut)
	if len(facts)+len(messages) == 0 && !r.cuts() {
		return s.end(ctx, turn)
	}
	candidates, err := s.verdicts(ctx, r, facts, never)
	if err != nil {
		return err
	}
	err = s.write(ctx, turn, candidates, messages, false)
	if memory.IsKind(err, memory.KindConflict) {
		return s.writeToStored(ctx, turn, candidates, messages, err)
	}
	return err
}
