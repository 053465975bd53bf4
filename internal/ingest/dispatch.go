package ingest

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
)

// dispatch hands accepted turns over to the job queue, after they are answered:
//
//	accepted -> waiting -> the first at once, those of the next milliseconds together -> jobs
//
// What it loses costs time alone: a turn that nobody has enqueued is overdue
// after a lease, and is then resumed.
type dispatch struct {
	mu      sync.Mutex
	waiting []string
	wake    chan struct{} // holds one where some wait
}

// Turns that wait in memory, and that are enqueued at once. Those above wait to
// be overdue.
const (
	mostWaiting  = 20_000
	mostEnqueued = 500
)

// pace is the least time between two transactions: what a turn of a crowd may
// wait, so that the database has the time for accepting others.
const pace = 50 * time.Millisecond

func (d *dispatch) add(turnID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) == mostWaiting {
		return
	}
	d.waiting = append(d.waiting, turnID)
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// take returns the turns that wait for longest.
func (d *dispatch) take() (turnIDs []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(d.waiting), mostEnqueued)
	turnIDs, d.waiting = d.waiting[:n:n], d.waiting[n:]
	return turnIDs
}

// Dispatch enqueues turns as they are accepted. It ends with the context, when
// those that wait are enqueued.
func (s *Service) Dispatch(ctx context.Context) {
	for {
		select {
		case <-s.accepted.wake:
		case <-ctx.Done():
		}
		for turnIDs := s.accepted.take(); len(turnIDs) > 0; turnIDs = s.accepted.take() {
			s.enqueue(ctx, turnIDs)
		}
		if ctx.Err() != nil {
			return
		}
		timer := time.NewTimer(pace)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

func (s *Service) enqueue(ctx context.Context, turnIDs []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tickTimeout)
	defer cancel()
	if _, err := s.Records.EnqueueTurns(ctx, turnIDs, s.Now().Add(s.set.ResumeAfter), processTurn); err != nil {
		s.Log.Warn("accepted turns are resumed later: they could not be enqueued", zap.Int("turns", len(turnIDs)), zap.Error(err))
	}
}
