package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/recall"
)

// occupied is a handler whose requests go on until they are released.
type occupied struct {
	running atomic.Int64  // requests in the handler
	release chan struct{} // a value ends one request
}

func (o *occupied) handle(ctx context.Context, _ *request) (any, error) {
	o.running.Add(1)
	defer o.running.Add(-1)
	select {
	case <-o.release:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// send sends a number of requests, which all have reached the handler or wait when it returns. The
// channel receives their errors, in the order in which they end.
func send(ctx context.Context, h handler, n int) <-chan error {
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

func TestSlots_BurstWaitsInAQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newSlots(2), &occupied{release: make(chan struct{})}
		ended := send(t.Context(), s.bound(o.handle), 2+2*pressurePerSlot)
		for waiting := 2 * pressurePerSlot; waiting >= 0; waiting-- {
			if o.running.Load() != 2 || s.pressure.Load() != int64(waiting) {
				t.Fatalf("%d run and %d wait, want 2 and %d", o.running.Load(), s.pressure.Load(), waiting)
			}
			time.Sleep(s.burstWait / 20)
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
		h := s.bound(o.handle)
		send(t.Context(), h, 1)
		begin := time.Now()
		refused := func(n int, after time.Duration) {
			t.Helper()
			for ended := send(t.Context(), h, n); n > 0; n-- {
				var busy *memory.Error
				err := <-ended
				if !errors.As(err, &busy) || busy.Kind != memory.KindBusy || busy.RetryAfter != slotRetry ||
					busy.Limit != "api.max_inflight" {
					t.Fatalf("%v", err)
				}
				if took := time.Since(begin); took != after {
					t.Errorf("refused after %s, want %s", took, after)
				}
			}
			begin = time.Now()
		}
		refused(pressurePerSlot, s.burstWait)
		refused(3, s.overloadWait) // the clients that were just refused will return
		time.Sleep(restTime)
		synctest.Wait()
		begin = time.Now()
		refused(1, s.burstWait) // they have not returned
		time.Sleep(restTime)
		close(o.release)
		synctest.Wait()
		if p := s.pressure.Load(); p != 0 || o.running.Load() != 0 {
			t.Errorf("pressure %d, %d run", p, o.running.Load())
		}
	})
}

func TestSlots_AreFreeAfterCancelAndPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newSlots(1), &occupied{release: make(chan struct{})}
		running, cancelRunning := context.WithCancel(t.Context())
		waiting, cancelWaiting := context.WithCancel(t.Context())
		h := s.bound(o.handle)
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
			_, _ = s.bound(func(context.Context, *request) (any, error) { panic("in a slot") })(t.Context(), nil)
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

// heldRecaller is a recaller whose recalls go on until they are released.
type heldRecaller struct {
	Recaller
	entered, release chan struct{}
}

func (h heldRecaller) Recall(ctx context.Context, q recall.Query) (recall.Answer, error) {
	h.entered <- struct{}{}
	<-h.release
	return h.Recaller.Recall(ctx, q)
}

func TestRecall_IsRefusedIfTheServerIsBusy(t *testing.T) {
	t.Parallel()
	const query = `{"user_id":"u","query":"peanuts"}`
	held := heldRecaller{entered: make(chan struct{}), release: make(chan struct{})}
	f := newFixture(t, func(o *Options) {
		held.Recaller = o.Recall.Recaller
		o.Recall.Recaller = held
		o.MaxInflight = 2
	})
	statuses := make(chan int, 2)
	for _, path := range []string{"/v1/recall", "/v1/context"} {
		go func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(query))
			r.Header.Set("Authorization", "Bearer read")
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			f.ServeHTTP(w, r)
			statuses <- w.Code
		}()
		<-held.entered
	}
	for _, path := range []string{"/v1/recall", "/v1/context"} {
		w := f.want(503, "POST", path, query)
		p := parse[Problem](t, w)
		if w.Header().Get("Retry-After") != "1" || p.Type != "urn:hippocampus:problem:busy" ||
			!strings.Contains(p.Detail, "2 recalls") || !strings.Contains(p.Detail, "api.max_inflight") {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	}
	related := "/v1/memories/" + memory.NewID() + "/related"
	if p := parse[Problem](t, f.want(503, "GET", related, "")); p.Type != "urn:hippocampus:problem:busy" {
		t.Errorf("%+v", p)
	}
	f.want(202, "POST", "/v1/turns", aTurn)
	f.want(400, "POST", "/v1/recall", `{}`) // refused before it needs a slot
	close(held.release)
	for range 2 {
		if status := <-statuses; status != 200 {
			t.Errorf("%d", status)
		}
	}
	f.want(404, "GET", related, "")
}

// late is an ingester whose turns lag behind.
type late struct{ TurnIngester }

func (late) Accept(context.Context, memory.Turn) (memory.Turn, bool, error) {
	return memory.Turn{}, false, &memory.Error{
		Kind: memory.KindTooFast, RetryAfter: 30 * time.Second, Limit: "jobs.max_lag",
		Err: errors.New("turns arrive faster than they are processed"),
	}
}

func TestTurns_AreRefusedIfTheyLagBehind(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Turns.Ingester = late{o.Turns.Ingester} })
	f.want(202, "POST", "/v1/turns/"+f.accept("u", "", "Hi.").ID+"/replay", "")
	w := f.want(429, "POST", "/v1/turns", aTurn)
	if w.Header().Get("Retry-After") != "30" || !strings.Contains(w.Body.String(), "faster than they are processed") {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	const counted = `hippocampus_requests_refused_total{limit="jobs.max_lag"} 1`
	if shown := f.want(200, "GET", "/metrics", "").Body.String(); !strings.Contains(shown, counted) {
		t.Errorf("the metrics lack %s", counted)
	}
}
