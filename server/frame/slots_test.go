package frame

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hippocampus/internal/memory"
)

// occupied is a handler whose requests run until they are released.
type occupied struct {
	running atomic.Int64  // requests in the handler
	release chan struct{} // a value ends one request
}

func (o *occupied) handle(ctx context.Context, _ *Request) (any, error) {
	o.running.Add(1)
	defer o.running.Add(-1)
	select {
	case <-o.release:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// send sends a number of requests. When it returns, each of them has reached the handler or waits for a slot. The
// channel receives their errors, in the order in which they end.
func send(ctx context.Context, h Handler, n int) <-chan error {
	ended := make(chan error, n)
	for range n {
		go func() {
			_, err := h(ctx, nil)
			ended <- err
		}()
	}
	synctest.Wait()
	return ended
}

// newSlots returns slots for most requests.
func newSlots(most int) *Slots { return NewSlots(most, "tests", "api.max_tests") }

func TestSlots_BurstWaitsInAQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newSlots(2), &occupied{release: make(chan struct{})}
		ended := send(t.Context(), s.Bound(o.handle), 2+leastPressure)
		for waiting := leastPressure; waiting >= 0; waiting-- {
			if o.running.Load() != 2 || s.pressure.Load() != int64(waiting) {
				t.Fatalf("%d run and %d wait, want 2 and %d", o.running.Load(), s.pressure.Load(), waiting)
			}
			time.Sleep(burstWait / 20)
			o.release <- struct{}{}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		o.release <- struct{}{}
		if err := <-ended; err != nil || o.running.Load() != 0 {
			t.Errorf("%d run, %v", o.running.Load(), err)
		}
	})
}

func TestSlots_RefuseAfterTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newSlots(1), &occupied{release: make(chan struct{})}
		h := s.Bound(o.handle)
		send(t.Context(), h, 1)
		begin := time.Now()
		refused := func(n int, after time.Duration) {
			t.Helper()
			for ended := send(t.Context(), h, n); n > 0; n-- {
				var busy *memory.Error
				err := <-ended
				if !errors.As(err, &busy) || busy.Kind != memory.KindBusy || busy.RetryAfter != slotRetry ||
					busy.Limit != "api.max_tests" {
					t.Fatalf("%v", err)
				}
				if took := time.Since(begin); took != after {
					t.Errorf("refused after %s, want %s", took, after)
				}
			}
			begin = time.Now()
		}
		refused(leastPressure, burstWait)
		refused(3, refusalDelay) // the clients that were just refused will return
		time.Sleep(restTime)
		synctest.Wait()
		begin = time.Now()
		refused(1, burstWait) // they have not returned
		time.Sleep(restTime)
		close(o.release)
		synctest.Wait()
		if p := s.pressure.Load(); p != 0 || o.running.Load() != 0 {
			t.Errorf("pressure %d, %d run", p, o.running.Load())
		}
	})
}

func TestSlots_OverloadedWaitAsLongAsARequestTakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newSlots(1), &occupied{release: make(chan struct{})}
		const takes = 100 * time.Millisecond
		for range 300 {
			if err := s.Run(t.Context(), func() error { time.Sleep(takes); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		h := s.Bound(o.handle)
		send(t.Context(), h, 1)
		for ended := send(t.Context(), h, leastPressure); len(ended) < leastPressure; synctest.Wait() {
			time.Sleep(burstWait)
		}
		waits := send(t.Context(), h, 1)
		time.Sleep(takes * 9 / 10)
		o.release <- struct{}{}
		synctest.Wait()
		o.release <- struct{}{}
		if err := <-waits; err != nil {
			t.Error(err)
		}
	})
}

func TestSlots_AreFreeAfterCancelAndPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newSlots(1), &occupied{release: make(chan struct{})}
		running, cancelRunning := context.WithCancel(t.Context())
		waiting, cancelWaiting := context.WithCancel(t.Context())
		h := s.Bound(o.handle)
		first, second := send(running, h, 1), send(waiting, h, 1)
		cancelWaiting()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled in the queue: %v", err)
		}
		cancelRunning()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled in its slot: %v", err)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = s.Bound(func(context.Context, *Request) (any, error) { panic("in a slot") })(t.Context(), nil)
		}()
		last := send(t.Context(), h, 1)
		if o.running.Load() != 1 || s.pressure.Load() != 0 {
			t.Errorf("%d run, pressure %d", o.running.Load(), s.pressure.Load())
		}
		o.release <- struct{}{}
		if err := <-last; err != nil {
			t.Error(err)
		}
	})
}
