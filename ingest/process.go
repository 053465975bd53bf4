package ingest

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
	"hippocampus/scorer"
)

// process scores an accepted turn that is held, and keeps what matters of it. A turn that
// cannot be processed now stays accepted and becomes due again; it fails after too many failed
// attempts, or if it is too old. process returns an error only if it could not store the
// outcome; the turn is then due again after its lease.
func (s *Service) process(ctx context.Context, turn memory.Turn) error {
	defer s.OnProcessed(ctx, turn)
	if err := s.remember(ctx, turn); err != nil && !errors.Is(err, errFinished) {
		tracing.Fail(trace.SpanFromContext(ctx), err)
		err = s.setBack(ctx, turn, err)
		if !memory.IsKind(err, memory.KindNotFound) { // not found: the user was erased
			return err
		}
	}
	s.scored.Remove(turn.ID)
	return nil
}

// Purge drops the cached answers of the scorer, ends of logs, facts and claims of all users. It is
// called when a user is erased.
func (s *Service) Purge() {
	s.scored.Purge()
	s.logs.Purge()
	s.Writer.Purge()
}

// remember takes a turn through the stages of a write.
func (s *Service) remember(ctx context.Context, turn memory.Turn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = memory.Errorf(memory.KindInternal, "processing the turn panicked: %v", p)
			s.Log.Error("panic in a turn", zap.String("turn", turn.ID), tracing.Log(ctx), zap.Any("panic", p),
				zap.Stack("stack"))
		}
	}()
	if turn.Zone, err = s.Zone.Of(ctx, turn.Owner); err != nil {
		return err
	}
	rules, err := s.policyOf(ctx, turn.AppID)
	if err != nil {
		return err
	}
	r, err := s.reading(ctx, rules, turn)
	if err != nil {
		return err
	}
	if rules.AsksModel() && s.asksModel(r.question) {
		return s.rememberJudged(ctx, r)
	}
	messages, leftOut := s.messages(r.turn, memory.LastSpoken(r.before), r.echoes)
	turn = r.turn
	turn.LeftOut = inOrder(turn.LeftOut, leftOut)
	// The messages are stored first if a model may fail or be slow, or if an earlier attempt may have stored them.
	stored := s.asksModel(r.question) || turn.LastError != ""
	if stored && len(messages)+len(turn.LeftOut) > 0 {
		if messages, err = s.keep(ctx, turn, messages); err != nil {
			return err
		}
		turn.LeftOut = nil // it is stored with the messages
	}
	facts, err := s.score(ctx, r.question)
	if err != nil {
		s.fallBack(ctx, turn, r, messages, err)
		return err
	}
	if stored {
		if err := s.takeBackRules(ctx, turn); err != nil {
			return err
		}
	}
	if len(facts) == 0 && (stored || len(messages) == 0) && !r.cuts() {
		return s.end(ctx, turn)
	}
	candidates, err := s.verdicts(ctx, r, facts, nil)
	if err != nil {
		return err
	}
	err = s.write(ctx, turn, candidates, messages, stored)
	if !stored && memory.IsKind(err, memory.KindConflict) {
		return s.writeToStored(ctx, turn, candidates, messages, err)
	}
	return err
}

// errFinished rolls back the transaction of a turn that is no longer accepted.
var errFinished = errors.New("the turn was finished by another worker")

// write writes the kept candidates of a turn, its messages unless they are stored, and with them the turn's outcome.
func (s *Service) write(
	ctx context.Context, turn memory.Turn, candidates []memory.Candidate, messages []memory.Memory, stored bool,
) error {
	drafts, places, lost, err := s.drafts(ctx, turn, candidates, messages, stored)
	if err != nil {
		return err
	}
	turn.LeftOut = inOrder(turn.LeftOut, lost)
	_, err = s.Writer.Write(ctx, write.Batch{
		Owner: turn.Owner, Cause: causeOf(turn), Drafts: drafts,
		First: func(ctx context.Context, tx db.UserTx) error {
			if stored {
				if err := isAsRead(ctx, tx, turn); err != nil {
					return err
				}
			}
			if err := leaveOut(ctx, tx, turn); err != nil {
				return err
			}
			err := tx.FinishTurn(ctx, turn.ID, turn.Attempts+1, memory.Instant(s.Now()), turn.Scored)
			if memory.IsKind(err, memory.KindConflict) {
				return errFinished
			}
			return err
		},
		Also: func(ctx context.Context, tx db.UserTx, _ *history.Recorder, written []write.Written) error {
			for i, w := range written[len(written)-len(places):] {
				settle(&candidates[places[i]], w)
			}
			return tx.AddCandidates(ctx, candidates)
		},
	})
	if err == nil {
		s.counts.count(1, OutcomeProcessed, candidates...)
	}
	return err
}

// drafts returns drafts of the messages of a turn, unless they are stored, and then of its kept candidates. It also
// returns the places of these among the candidates, and what is left out of the messages. A candidate that no search
// would find becomes invalid.
func (s *Service) drafts(
	ctx context.Context, turn memory.Turn, candidates []memory.Candidate, messages []memory.Memory, stored bool,
) (drafts []write.Draft, places []int, lost []memory.Omission, err error) {
	var unstored, facts []memory.Memory
	if !stored {
		unstored = messages
	}
	var of []int
	for i, c := range candidates {
		if c.Verdict == memory.Kept {
			facts, of = append(facts, factOf(c, turn)), append(of, i)
		}
	}
	complete, kept, err := s.completeOrKeep(ctx, turn, unstored, facts)
	if kept && err == nil {
		err = errKept
	}
	if err != nil {
		return nil, nil, nil, err
	}
	facts = complete[len(unstored):]
	if !stored {
		messages, lost = withoutLost(complete[:len(unstored)])
		drafts = draftsOf(messages, write.Alone)
	}
	for i, fact := range facts {
		if isLost(fact) {
			c := &candidates[of[i]]
			c.Verdict, c.Reason = memory.InvalidAnswer, becauseRefused+", and it has no words to be found by"
			continue
		}
		draft := write.Draft{Memory: fact, Compare: write.Judged}
		if message := spoken(fact.Content, turn, messages); message != nil {
			draft.Source = message.ID
		}
		drafts, places = append(drafts, draft), append(places, of[i])
	}
	return drafts, places, lost, nil
}

// causeOf returns the cause that is recorded with the changes of a turn.
func causeOf(t memory.Turn) string { return ofTurn + t.ID }

// The cause of the changes of a turn: the turn and, if it was scored again, the run.
const (
	ofTurn  = "turn "
	scoring = ", scored again by "
)

// turnOf returns the id of the turn that is the cause of a change; "" if another cause is.
func turnOf(cause string) string {
	turn, isTurns := strings.CutPrefix(cause, ofTurn)
	if !isTurns {
		return ""
	}
	id, _, _ := strings.Cut(turn, scoring)
	return id
}

// isBy reports whether a turn is the cause of an event.
func isBy(e memory.Event, turnID string) bool { return turnOf(e.Cause) == turnID }

// settle copies the verdict, the memory id and the reason of a written draft to its candidate.
func settle(c *memory.Candidate, w write.Written) {
	because := ""
	if c.Verdict == memory.Kept && c.Reason != "" { // see gate
		because = c.Reason + "; "
	}
	c.Verdict = w.Verdict
	c.MemoryID = w.Memory.ID
	c.Reason = because + w.Reason
}

// quotaPeriod is added to the age at which a turn fails if a quota of its app keeps it waiting: the quota of the next
// day is to serve the turn.
const quotaPeriod = 24 * time.Hour

// setBackTimeout bounds recording a failed attempt, whose own context may have ended.
const setBackTimeout = 5 * time.Second

// setBack defers a turn, or fails it. If a model or a store is unavailable, no attempt is counted: the turn waits for
// half its age each time, until it is too old. If the app has used up its quota of tokens, the turn waits in the same
// way, a day longer. Any other failure counts one attempt, and the wait doubles each time. An answer that stays bad
// after a correction fails the turn at once, since the model would repeat it.
func (s *Service) setBack(ctx context.Context, turn memory.Turn, cause error) error {
	aborted := errors.Is(cause, context.Canceled) && ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), setBackTimeout)
	defer cancel()
	if aborted || errors.Is(cause, errReadAgain) { // aborted by the end of Work: any process may claim it at once
		return s.Records.RenewTurns(ctx, []string{turn.ID}, s.Now())
	}
	var bad *scorer.BadAnswer
	corrected := errors.As(cause, &bad) && bad.Corrected
	now := memory.Instant(s.Now())
	age := now.Sub(turn.QueuedAt)
	giveUp := s.set.GiveUp
	if memory.LimitOf(cause) != "" {
		giveUp += quotaPeriod
	}
	wait, failed := max(s.set.RetryDelay, age/2), age >= giveUp
	if !memory.IsKind(cause, memory.KindUnavailable) {
		wait = s.set.RetryDelay << min(turn.Attempts, 20)
		turn.Attempts++
		failed = failed || corrected || turn.Attempts >= s.set.Attempts
	}
	refused, reason := s.refusal(ctx, turn, cause, now), excerpt(cause.Error())
	var verdicts []memory.Candidate
	if refused != nil {
		verdicts = append(verdicts, *refused)
	}
	if failed {
		s.counts.count(1, OutcomeFailed, verdicts...)
		s.Log.Warn("turn failed; it can be replayed",
			zap.String("turn", turn.ID), zap.Int("attempts", turn.Attempts), tracing.Log(ctx), zap.Error(cause))
		return s.Records.FailTurn(ctx, turn.ID, turn.Attempts, reason, now, refused)
	}
	var e *memory.Error
	if errors.As(cause, &e) {
		wait = max(wait, e.RetryAfter)
	}
	wait = min(wait, s.set.RetryLimit)
	s.counts.count(1, OutcomeDeferred, verdicts...)
	s.Log.Info("turn is tried again later", zap.String("turn", turn.ID), zap.Int("attempts", turn.Attempts),
		zap.Duration("in", wait), tracing.Log(ctx), zap.Error(cause))
	return s.Records.DeferTurn(ctx, turn.ID, turn.Attempts, reason, now.Add(wait), refused)
}

// refusal returns the candidate that records a refused answer of the scorer, or nil.
func (s *Service) refusal(ctx context.Context, turn memory.Turn, cause error, at time.Time) *memory.Candidate {
	var bad *scorer.BadAnswer
	if !errors.As(cause, &bad) {
		return nil
	}
	content := excerpt(bad.Answer)
	if rules, err := s.policyOf(ctx, turn.AppID); err != nil || rules.HasNever() {
		content = policyMark // it may have what is never kept
	}
	return &memory.Candidate{
		ID: memory.NewID(), TurnID: turn.ID, Content: content, Domain: memory.GeneralChat, Type: memory.TypeFact,
		Verdict: memory.InvalidAnswer, Reason: excerpt(bad.Error()), Scorer: s.Scorer.Name(), CreatedAt: at,
	}
}
