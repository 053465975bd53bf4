package ingest

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/memory"
)

// Work processes turns as they are accepted, without a job, and ends those of
// which nothing is kept together. It ends with the context, when what is under
// way has ended or Drain is over; the rest is left to Dispatch, which ends after it.
func (s *Service) Work(ctx context.Context) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var workers, ender sync.WaitGroup
	s.ended.set(false)
	working, worked := context.WithCancel(lasting)
	ender.Go(func() { s.ended.run(working, s.endTogether) })
	for range s.set.Workers {
		workers.Go(func() { s.worker(ctx, lasting) })
	}
	<-ctx.Done()
	drained := time.AfterFunc(s.set.Drain, cancel)
	workers.Wait()
	drained.Stop()
	s.ended.set(true)
	worked()
	ender.Wait()
}

// worker processes the turns that dispatch hands over until the context ends;
// the one that is under way has until lasting does.
func (s *Service) worker(ctx, lasting context.Context) {
	for {
		select {
		case turn := <-s.fresh:
			s.processFresh(lasting, turn)
		case <-ctx.Done():
			return
		}
	}
}

// processFresh processes a turn that was accepted a moment ago, and so needs not
// be read: its lease has just begun. What cannot be done now is queued, as if no
// worker had been idle.
func (s *Service) processFresh(ctx context.Context, turn memory.Turn) {
	defer func() { <-s.slots }()
	defer s.hold(turn.ID)()
	ctx, cancel := context.WithTimeout(ctx, s.set.Timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("panic in a worker; its turn is resumed later", zap.String("turn", turn.ID), zap.Any("panic", p), zap.Stack("stack"))
		}
	}()
	if err := s.process(ctx, turn); err != nil {
		s.Log.Warn("turn is queued: it cannot be processed now", zap.String("turn", turn.ID), zap.Error(err))
		s.accepted.add(turn.ID)
	}
}

// end ends a turn of which nothing is kept, with others where it can. Whoever
// hears of the turns of a conversation finds them processed.
func (s *Service) end(ctx context.Context, turn memory.Turn) error {
	release := s.hold(turn.ID)
	if turn.ConversationID == "" && s.ended.add(turn.ID) {
		return nil // which endTogether releases
	}
	defer release()
	return s.Records.EndTurns(ctx, []string{turn.ID}, memory.Instant(s.Now()))
}

func (s *Service) endTogether(ctx context.Context, turnIDs []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tickTimeout)
	defer cancel()
	err := s.Records.EndTurns(ctx, turnIDs, memory.Instant(s.Now()))
	if err != nil {
		s.Log.Warn("turns of which nothing is kept are resumed later: they could not be ended", zap.Int("turns", len(turnIDs)), zap.Error(err))
	}
	for _, id := range turnIDs {
		if err != nil {
			s.scored.Add(id, nil) // its scorer need not be asked again
		}
		s.release(id)
	}
}
