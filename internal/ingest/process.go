package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// Process scores a turn and keeps what matters of it. A turn that cannot be
// scored for now stays accepted and becomes due again; after too many bad
// answers, or when it is too old, it has failed. Only the database being away
// is an error: whoever called tries again, and a finished turn is left alone.
func (s *Service) Process(ctx context.Context, turnID string) error {
	turn, err := s.Records.StartTurn(ctx, turnID, s.Now().Add(s.set.Lease))
	if memory.IsKind(err, memory.KindNotFound) {
		return nil
	}
	if err != nil || turn.Status != memory.TurnAccepted {
		return err
	}
	defer s.hold(turnID)()

	facts, err := s.Scorer.Score(ctx, turn)
	if err != nil {
		return s.setBack(ctx, turn, err)
	}
	turn.Attempts++
	candidates, err := s.gate(ctx, turn, facts)
	if err != nil {
		return err
	}
	proposed, err := s.embed(ctx, turn, candidates)
	if err != nil {
		return s.setBack(ctx, turn, err)
	}
	return s.finish(ctx, turn, candidates, proposed)
}

// gate gives each fact its first verdict: kept, below the threshold, or an echo.
func (s *Service) gate(ctx context.Context, turn memory.Turn, facts []scorer.Fact) ([]memory.Candidate, error) {
	echoes, err := s.echoes(ctx, turn)
	if err != nil {
		return nil, err
	}
	candidates := make([]memory.Candidate, len(facts))
	for i, f := range facts {
		c := memory.Candidate{
			ID: memory.NewID(), TurnID: turn.ID, Content: f.Content, Importance: f.Importance, Domain: f.Domain,
			Type: f.Type, Verdict: memory.Kept, Scorer: s.Scorer.Name(), CreatedAt: memory.Instant(s.Now()),
		}
		if f.Importance < s.set.Threshold {
			c.Verdict = memory.BelowThreshold
			c.Reason = fmt.Sprintf("importance %.2f is under the gate of %.2f", f.Importance, s.set.Threshold)
		} else if echoed, ok := echoes.find(f.Content); ok {
			c.Verdict, c.MemoryID = memory.Echo, echoed.ID
			c.Reason = "repeats a memory that recall had just handed out; the user did not say it"
		}
		candidates[i] = c
	}
	return candidates, nil
}

// embed makes a draft memory of every candidate that is still kept, by its place.
func (s *Service) embed(ctx context.Context, turn memory.Turn, candidates []memory.Candidate) (map[int]memory.Memory, error) {
	var places []int
	var texts []string
	for i, c := range candidates {
		if c.Verdict == memory.Kept {
			places, texts = append(places, i), append(texts, c.Content)
		}
	}
	if len(texts) == 0 {
		return nil, nil
	}
	vectors, err := s.Embedder.Embed(ctx, llm.ForDocument, texts)
	if err != nil {
		return nil, err
	}
	drafts := make(map[int]memory.Memory, len(texts))
	for n, i := range places {
		c := candidates[i]
		drafts[i] = s.draft(memory.Memory{
			Owner: turn.Owner, AgentID: turn.AgentID, ConversationID: turn.ConversationID, SourceTurnID: turn.ID,
			Content: c.Content, Type: c.Type, Domain: c.Domain, Importance: c.Importance, CreatedAt: turn.At,
		}, vectors[n])
	}
	return drafts, nil
}

// finish writes the turn's outcome in one transaction, then pushes it.
func (s *Service) finish(ctx context.Context, turn memory.Turn, candidates []memory.Candidate, drafts map[int]memory.Memory) error {
	nearby := make(map[int][]string, len(drafts))
	for i, m := range drafts {
		ids, err := s.nearby(ctx, m)
		if err != nil {
			return err
		}
		nearby[i] = ids
	}
	var w *writing
	err := s.Records.InUser(ctx, turn.Owner, func(ctx context.Context, tx db.UserTx) error {
		if err := tx.FinishTurn(ctx, turn.ID, turn.Attempts, memory.Instant(s.Now())); err != nil {
			return err
		}
		w = s.writing(tx, "turn "+turn.ID)
		for i := range candidates {
			draft, kept := drafts[i]
			if !kept {
				continue
			}
			held, err := w.put(ctx, draft, nearby[i])
			if err != nil {
				return err
			}
			c := &candidates[i]
			c.Verdict, c.MemoryID, c.Reason = held.Verdict, held.Memory.ID, held.Reason
		}
		if err := tx.AddCandidates(ctx, candidates); err != nil {
			return err
		}
		return w.flush(ctx)
	})
	if memory.IsKind(err, memory.KindConflict) {
		return nil // another process has finished this turn
	}
	if err == nil {
		w.push(ctx)
	}
	return err
}

// setBack makes a turn wait, or fail. A bad answer costs it an attempt and it
// waits twice as long each time. An endpoint that is away costs none: the turn
// waits for half its age each time, until it is too old.
func (s *Service) setBack(ctx context.Context, turn memory.Turn, cause error) error {
	if errors.Is(cause, context.Canceled) && ctx.Err() != nil {
		return cause // shutting down: the turn is resumed when its lease ends
	}
	now := memory.Instant(s.Now())
	var refused *memory.Candidate
	var bad *scorer.BadAnswer
	age := now.Sub(turn.AcceptedAt)
	wait, failed := max(s.set.RetryDelay, age/2), age >= s.set.GiveUp
	if memory.IsKind(cause, memory.KindBadAnswer) {
		wait = s.set.RetryDelay << min(turn.Attempts, 20)
		turn.Attempts++
		failed = failed || turn.Attempts >= s.set.Attempts
	}
	if errors.As(cause, &bad) {
		refused = &memory.Candidate{
			ID: memory.NewID(), TurnID: turn.ID, Content: excerpt(bad.Answer), Domain: memory.GeneralChat, Type: memory.TypeFact,
			Verdict: memory.InvalidAnswer, Reason: excerpt(bad.Error()), Scorer: s.Scorer.Name(), CreatedAt: now,
		}
	}
	reason := excerpt(cause.Error())
	if failed {
		s.Log.Warn("turn failed; it can be replayed", zap.String("turn", turn.ID), zap.Int("attempts", turn.Attempts), zap.Error(cause))
		return s.Records.FailTurn(ctx, turn.ID, turn.Attempts, reason, refused)
	}
	var e *memory.Error
	if errors.As(cause, &e) {
		wait = max(wait, e.RetryAfter)
	}
	wait = min(wait, s.set.RetryLimit)
	s.Log.Info("turn is tried again later", zap.String("turn", turn.ID), zap.Int("attempts", turn.Attempts),
		zap.Duration("in", wait), zap.Error(cause))
	return s.Records.DeferTurn(ctx, turn.ID, turn.Attempts, reason, now.Add(wait), refused)
}

// maxExcerpt bounds what is kept of a refused answer or an error, in bytes.
const maxExcerpt = 1000

// excerpt makes foreign text fit for a column: bounded, valid, not empty, no NUL.
func excerpt(s string) string {
	cut := s[:min(len(s), maxExcerpt)]
	for len(cut) > 0 && len(cut) < len(s) && !utf8.RuneStart(s[len(cut)]) {
		cut = cut[:len(cut)-1]
	}
	cut = strings.ToValidUTF8(strings.ReplaceAll(cut, "\x00", ""), "\uFFFD")
	if strings.TrimSpace(cut) == "" {
		return "(empty)"
	}
	return cut
}
