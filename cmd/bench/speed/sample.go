package speed

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Sample is the joint measurement of several clients.
type Sample struct {
	Requests  int     `json:"requests"`
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
	P99       float64 `json:"p99_ms"`
	PerSecond float64 `json:"per_second"`
	CPU       float64 `json:"cpu_ms_per_request,omitempty"` // of the measured process; omitted for the floor
}

// times are the latencies of one side over several rounds.
type times struct {
	latencies []time.Duration
	took      time.Duration
	cpu       time.Duration
}

// run calls f for a duration with several clients. Each call has a unique number. The
// first error ends the run.
func (t *times) run(
	ctx context.Context, clients int, while time.Duration, next *atomic.Int64,
	f func(ctx context.Context, n int) error,
) error {
	var (
		mu     sync.Mutex
		wait   sync.WaitGroup
		failed error
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begin := time.Now()
	for range clients {
		wait.Go(func() {
			var own []time.Duration
			for time.Since(begin) < while && ctx.Err() == nil {
				n := int(next.Add(1))
				at := time.Now()
				err := f(ctx, n)
				took := time.Since(at)
				if err != nil {
					mu.Lock()
					if failed == nil {
						failed = err
					}
					mu.Unlock()
					cancel()
					return
				}
				own = append(own, took)
			}
			mu.Lock()
			t.latencies = append(t.latencies, own...)
			mu.Unlock()
		})
	}
	wait.Wait()
	t.took += time.Since(begin)
	return failed
}

// call adds what f takes, unless it fails.
func (t *times) call(f func() error) error {
	at := time.Now()
	err := f()
	if took := time.Since(at); err == nil {
		t.latencies, t.took = append(t.latencies, took), t.took+took
	}
	return err
}

// pace is one client that pauses between two calls.
type pace struct {
	Slice time.Duration // how long one run calls
	Pause time.Duration
}

// run calls f with increasing numbers for a slice of time, and adds each call to t.
func (p pace) run(ctx context.Context, t *times, next *int, f func(n int) error) error {
	return p.each(ctx, next, func(n int) error { return t.call(func() error { return f(n) }) })
}

// each calls f with increasing numbers for a slice of time.
func (p pace) each(ctx context.Context, next *int, f func(n int) error) error {
	for begin := time.Now(); time.Since(begin) < p.Slice; *next++ {
		if err := f(*next); err != nil {
			return err
		}
		select {
		case <-time.After(p.Pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (t *times) sample() Sample {
	n := len(t.latencies)
	if n == 0 {
		return Sample{}
	}
	slices.Sort(t.latencies)
	at := func(share float64) float64 {
		return float64(t.latencies[min(n-1, int(share*float64(n)))].Microseconds()) / 1000
	}
	return Sample{
		Requests: n, P50: at(0.50), P95: at(0.95), P99: at(0.99), PerSecond: float64(n) / t.took.Seconds(),
		CPU: float64(t.cpu.Microseconds()) / 1000 / float64(n),
	}
}

// Pair is the server and its floor, measured alternately in one run.
type Pair struct {
	Name     string `json:"name"`
	Data     string `json:"data"`
	Clients  int    `json:"clients"`
	Floor    Sample `json:"floor"`
	OverHTTP Sample `json:"floor_over_http,omitzero"` // the floor as a handler of net/http without checks and answers
	Server   Sample `json:"server"`
}

// Ratios of the server to its floor: a time above 1 is slower, and so is a rate below 1.
func (p Pair) Ratios() (p50, p95, rate float64) { return p.Floor.ratios(p.Server) }

// ratios returns the ratios of another sample to this one.
func (s Sample) ratios(other Sample) (p50, p95, rate float64) {
	if s.Requests == 0 {
		return 0, 0, 0
	}
	return other.P50 / s.P50, other.P95 / s.P95, other.PerSecond / s.PerSecond
}
