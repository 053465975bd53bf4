package frame

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"hippocampus/internal/memory"
)

// Slots bounds how many requests of one kind run at a time:
//
//	a free slot  -> handler -> the slot is free again
//	no free slot -> wait, first come, first served -> handler, or 503
//
// Above the number that keeps the processors busy, further requests only make each other
// slower. A burst waits for up to burstWait. While the pressure is above maxPressure, a
// request waits for as long as one has its slot: if the queue stayed long, every request of
// an overloaded server would wait for all of it. Such a request is refused later than that,
// refusalDelay after it came, since a client may repeat it at once.
type Slots struct {
	what, limit string // the kind of requests, and the bound as Limit of an error

	most int
	free *semaphore.Weighted
	// pressure counts the requests that wait, and those that were refused less than restTime ago.
	pressure    atomic.Int64
	maxPressure int64
	held        atomic.Int64 // how long a request has its slot, in ns: a moving mean
}

const (
	// burstWait is how long a request waits for a slot, unless the server is overloaded.
	burstWait = time.Second
	// leastWait is the least that a request waits on an overloaded server.
	leastWait = time.Millisecond
	// refusalDelay is how long after its arrival a request is refused that waited for a shorter time. Clients that repeat
	// refused requests at once would otherwise take most of the processors' time.
	refusalDelay = 500 * time.Millisecond
	// slotRetry is how long a client that got no slot is asked to wait: the least that
	// Retry-After can state.
	slotRetry = time.Second
	// restTime is how long after their refusal most clients have returned. A client waits once
	// to twice as long as Retry-After states, so that not all return at once.
	restTime = 2 * slotRetry
	// pressurePerSlot is how many requests may wait for each slot before the server counts as
	// overloaded, and leastPressure is how many may wait for all.
	pressurePerSlot, leastPressure = 2, 16
	// heldWeight is the part of a new time in the mean of held.
	heldWeight = 1. / 32
)

// NewSlots returns slots for most requests at a time. Errors say what they are, such as "recalls", and name the limit.
func NewSlots(most int, what, limit string) *Slots {
	return &Slots{
		what: what, limit: limit, most: most, free: semaphore.NewWeighted(int64(most)),
		maxPressure: int64(max(leastPressure, most*pressurePerSlot)),
	}
}

// Bound makes a handler that runs h in a slot. KindBusy: no slot became free in time.
func (s *Slots) Bound(h Handler) Handler {
	return func(ctx context.Context, r *Request) (body any, err error) {
		err = s.Run(ctx, func() (err error) {
			body, err = h(ctx, r)
			return err
		})
		return body, err
	}
}

// Run calls do in a slot, and returns its error. KindBusy: no slot became free in time, and do was not called.
func (s *Slots) Run(ctx context.Context, do func() error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	begin := time.Now() //nolint:forbidigo // it measures how long a request has its slot
	defer func() {      // also after a panic
		held := s.held.Load()
		s.held.Store(held + int64(heldWeight*float64(time.Since(begin).Nanoseconds()-held))) // losing a time does not matter
		s.free.Release(1)
	}()
	return do()
}

func (s *Slots) enter(ctx context.Context) error {
	if s.free.TryAcquire(1) {
		return nil
	}
	refusal := time.NewTimer(refusalDelay)
	defer refusal.Stop()
	wait := burstWait
	if s.pressure.Add(1) > s.maxPressure {
		wait = min(burstWait, max(leastWait, time.Duration(s.held.Load())))
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err := s.free.Acquire(waiting, 1)
	if err == nil || ctx.Err() != nil { // served, or the client has left
		s.pressure.Add(-1)
		return err
	}
	select {
	case <-refusal.C:
	case <-ctx.Done():
	}
	time.AfterFunc(restTime, func() { s.pressure.Add(-1) })
	return &memory.Error{
		Kind: memory.KindBusy, Limit: s.limit, RetryAfter: slotRetry,
		Err: fmt.Errorf("the server is busy with %d %s, which is its limit (%s): "+
			"repeat the request after the seconds in Retry-After", s.most, s.what, s.limit),
	}
}
