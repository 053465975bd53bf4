package frame

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"hippocampus/internal/memory"
)

// Slots bounds how many recalls, contexts and searches for related memories run at a time:
//
//	a free slot  -> handler -> the slot is free again
//	no free slot -> wait, first come, first served -> handler, or 503
//
// Above the number that keeps the processors busy, further requests only make each other
// slower. A burst waits for up to burstWait. While the pressure is above maxPressure, a
// request waits for up to overloadWait: if the queue stayed long, every request of an
// overloaded server would wait for all of it.
type Slots struct {
	most int
	free *semaphore.Weighted
	// pressure counts the requests that wait, and those that were refused less than restTime ago.
	pressure    atomic.Int64
	maxPressure int64

	burstWait, overloadWait time.Duration
}

// slotRetry is how long a client that got no slot is asked to wait: the least that
// Retry-After can state.
const slotRetry = time.Second

// restTime is how long after their refusal most clients have returned. A client waits once
// to twice as long as Retry-After states, so that not all return at once.
const restTime = 2 * slotRetry

// pressurePerSlot is how many requests may wait for each slot before the server counts as
// overloaded.
const pressurePerSlot = 8

func NewSlots(most int) *Slots {
	return &Slots{
		most: most, free: semaphore.NewWeighted(int64(most)), maxPressure: int64(most * pressurePerSlot),
		burstWait: time.Second, overloadWait: time.Millisecond,
	}
}

// Bound makes a handler that runs h in a slot. KindBusy: no slot became free in time.
func (s *Slots) Bound(h Handler) Handler {
	return func(ctx context.Context, r *Request) (any, error) {
		if err := s.enter(ctx); err != nil {
			return nil, err
		}
		defer s.free.Release(1) // also after a panic
		return h(ctx, r)
	}
}

func (s *Slots) enter(ctx context.Context) error {
	if s.free.TryAcquire(1) {
		return nil
	}
	wait := s.burstWait
	if s.pressure.Add(1) > s.maxPressure {
		wait = s.overloadWait
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err := s.free.Acquire(waiting, 1)
	if err == nil || ctx.Err() != nil { // served, or the client has left
		s.pressure.Add(-1)
		return err
	}
	time.AfterFunc(restTime, func() { s.pressure.Add(-1) })
	return &memory.Error{
		Kind: memory.KindBusy, Limit: "api.max_inflight", RetryAfter: slotRetry,
		Err: fmt.Errorf("the server is busy with %d recalls and contexts, which is its limit (api.max_inflight): "+
			"repeat the request after the seconds in Retry-After", s.most),
	}
}
