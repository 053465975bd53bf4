package ingest

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/memory"
)

// The least time between two transactions: one that enqueues turns leaves the
// database to those that accept others, one that ends turns is waited for by
// clients.
const (
	enqueuePace = 50 * time.Millisecond
	endPace     = 10 * time.Millisecond
)

// dispatch hands a turn that has just become durable to whoever is to process it:
//
//	accepted -> an idle worker of this process
//	         -> none: together with others -> jobs, for the workers of any process
//
// What it loses costs time alone: a turn that nobody works on is overdue after a
// lease, and is then resumed.
func (s *Service) dispatch(turn memory.Turn) {
	select {
	case s.slots <- struct{}{}:
		select {
		case s.fresh <- turn: // whose slot the worker gives back
			return
		default:
			<-s.slots
		}
	default:
	}
	s.accepted.add(turn.ID)
}

// Dispatch enqueues the turns that no worker of this process was idle for. It
// ends with the context, when those that wait are enqueued.
func (s *Service) Dispatch(ctx context.Context) { s.accepted.run(ctx, s.enqueue) }

func (s *Service) enqueue(ctx context.Context, turnIDs []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tickTimeout)
	defer cancel()
	if _, err := s.Records.EnqueueTurns(ctx, turnIDs, s.Now().Add(s.set.ResumeAfter), processTurn); err != nil {
		s.Log.Warn("accepted turns are resumed later: they could not be enqueued", zap.Int("turns", len(turnIDs)), zap.Error(err))
	}
}
