package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// Work processes turns until the context ends:
//
//	accepted turn -> an idle worker, directly
//	due turn      -> ClaimTurns, as many as there are idle workers
//	worker        -> process -> turn ended, or due again
//
// Work also renews the turns that this process holds, and measures Lag. When the context ends, turns in
// progress have until Drained is closed; the others become due at once, for any process.
func (s *Service) Work(ctx context.Context) {
	processing, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	ending, stopEnding := context.WithCancel(context.WithoutCancel(ctx))
	renewing, stopRenewing := context.WithCancel(context.WithoutCancel(ctx))
	var workers, ender, renewer sync.WaitGroup
	renewer.Go(func() { s.renew(renewing) })
	s.ended.setOpen(true)
	ender.Go(func() { s.ended.run(ending, s.endBatch) })
	for range s.set.Workers {
		workers.Go(func() { s.worker(working, processing) })
		s.idle <- struct{}{}
	}

	s.claimUntil(ctx)

	go func() {
		select {
		case <-s.Drained:
			abort()
		case <-processing.Done():
		}
	}()
	for range s.set.Workers {
		<-s.idle
	}
	stopWorking()
	workers.Wait()
	s.ended.setOpen(false)
	stopEnding()
	ender.Wait()
	stopRenewing()
	renewer.Wait()
}

// reserve takes an idle worker for a turn, if there is one. The worker is idle again
// after a turn was sent to taken, or after unreserve.
func (s *Service) reserve() bool {
	select {
	case <-s.idle:
		return true
	default:
		return false
	}
}

func (s *Service) unreserve() { s.idle <- struct{}{} }

// claimUntil hands due turns to idle workers until the context ends. It looks for them at
// every signal and every poll interval.
func (s *Service) claimUntil(ctx context.Context) {
	poll := time.NewTicker(min(s.set.Renew, s.set.RetryDelay))
	defer poll.Stop()
	for {
		// One worker is enough to find out whether a turn is due: the others stay idle
		// for turns that are accepted at the same time.
		for limit := 1; s.claim(ctx, limit); {
			limit = s.set.Workers
		}
		select {
		case <-s.due:
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}

// claim waits for an idle worker, claims due turns for it and for further idle ones, up to
// limit, and reports whether more turns may be due.
func (s *Service) claim(ctx context.Context, limit int) (more bool) {
	select {
	case <-s.idle:
	case <-ctx.Done():
		return false
	}
	reserved := 1
	for reserved < limit && s.reserve() {
		reserved++
	}
	query, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	now := s.Now()
	turns, err := s.Records.ClaimTurns(query, now, now.Add(s.set.Lease), reserved)
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("due turns could not be claimed", zap.Error(err))
	}
	for _, turn := range turns {
		s.taken <- taken{Turn: turn}
	}
	for range reserved - len(turns) {
		s.unreserve()
	}
	return len(turns) == reserved
}

// worker processes the turns that are sent to taken.
func (s *Service) worker(ctx, processing context.Context) {
	for {
		select {
		case t := <-s.taken:
			s.processTaken(processing, t)
			s.unreserve()
		case <-ctx.Done():
			return
		}
	}
}

// taken is a turn that was accepted or claimed, on its way to a worker.
type taken struct {
	memory.Turn
	cause trace.SpanContext // of the request that brought it to this process, else not valid
}

func (s *Service) processTaken(ctx context.Context, t taken) {
	turn := t.Turn
	defer s.hold(turn.ID)()
	ctx, cancel := context.WithTimeout(llm.ForApp(ctx, turn.AppID), s.set.Timeout)
	defer cancel()
	ctx, work := tracing.Root(ctx, "turn", t.cause)
	defer work.End()
	if work.IsRecording() {
		work.SetAttributes(attribute.String("hippocampus.turn.id", turn.ID),
			attribute.Int("hippocampus.turn.messages", len(turn.Messages)),
			attribute.Int("hippocampus.turn.attempts", turn.Attempts))
	}
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("panic in a worker; its turn is processed again later",
				zap.String("turn", turn.ID), tracing.Log(ctx), zap.Any("panic", p), zap.Stack("stack"))
		}
	}()
	if err := s.process(ctx, turn); err != nil {
		s.Log.Warn("turn is processed again later: its outcome could not be stored",
			zap.String("turn", turn.ID), tracing.Log(ctx), zap.Error(err))
	}
}

// end ends a turn that yields no memory. A turn without a conversation is ended in a batch;
// a turn of a conversation at once, since readers of the conversation expect it to be processed.
func (s *Service) end(ctx context.Context, turn memory.Turn) error {
	release := s.hold(turn.ID)
	ended := db.EndedTurn{ID: turn.ID, LeftOut: turn.LeftOut, Scored: turn.Scored}
	if turn.ConversationID == "" && s.ended.add(ended) {
		return nil // endBatch releases it
	}
	defer release()
	err := s.Records.EndTurns(ctx, []db.EndedTurn{ended}, memory.Instant(s.Now()))
	if err == nil {
		s.counts.count(1, OutcomeProcessed)
	}
	return err
}

func (s *Service) endBatch(turns []db.EndedTurn) {
	ctx, cancel := context.WithTimeout(context.Background(), tickTimeout)
	defer cancel()
	err := s.Records.EndTurns(ctx, turns, memory.Instant(s.Now()))
	if err != nil {
		s.Log.Warn("turns that yield no memory could not be ended; they are processed again later",
			zap.Int("turns", len(turns)), zap.Error(err))
	} else {
		s.counts.count(len(turns), OutcomeProcessed)
	}
	for _, t := range turns {
		if err != nil {
			s.scored.Add(t.ID, answer{}) // so that the scorer is not asked again
		}
		s.release(t.ID)
	}
}

// tickTimeout bounds one periodic statement: a dead connection must not stall the next.
const tickTimeout = 10 * time.Second

// renew moves the due time of the held turns ahead until the context ends.
func (s *Service) renew(ctx context.Context) {
	ticker := time.NewTicker(s.set.Renew)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.renewHeld(ctx)
			s.measureLag(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (s *Service) renewHeld(ctx context.Context) {
	held := s.holding()
	if len(held) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	err := s.Records.RenewTurns(ctx, held, s.Now().Add(s.set.Lease))
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		s.Log.Warn("turns in progress could not be renewed", zap.Int("turns", len(held)), zap.Error(err))
	}
}

// hold keeps a turn renewed until release is called, once for each call of hold.
func (s *Service) hold(turnID string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[turnID]++
	return func() { s.release(turnID) }
}

func (s *Service) release(turnID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[turnID]--
	if s.held[turnID] == 0 {
		delete(s.held, turnID)
	}
}

func (s *Service) holding() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.held))
}
