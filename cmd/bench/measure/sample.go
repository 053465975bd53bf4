// Package measure times requests:
//
//	calls of one client or several -> Times -> Sample: percentiles and rates
package measure

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

// Times are the latencies of one side over several rounds.
type Times struct {
	Latencies []time.Duration
	Took      time.Duration // of all calls together, or of all runs
	CPU       time.Duration // of the measured process
}

// Run calls f for a duration with several clients. Each call has a unique number. The
// first error ends the run.
func (t *Times) Run(
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
			t.Latencies = append(t.Latencies, own...)
			mu.Unlock()
		})
	}
	wait.Wait()
	t.Took += time.Since(begin)
	return failed
}

// Call adds the duration of f, unless f fails.
func (t *Times) Call(f func() error) error {
	at := time.Now()
	err := f()
	took := time.Since(at)
	if err == nil {
		t.Latencies, t.Took = append(t.Latencies, took), t.Took+took
	}
	return err
}

// Pace is one client that pauses between two calls.
type Pace struct {
	Slice time.Duration // how long one run calls
	Pause time.Duration
}

// Run calls f with increasing numbers for a slice of time, and adds each call to t.
func (p Pace) Run(ctx context.Context, t *Times, next *int, f func(n int) error) error {
	return p.Each(ctx, next, func(n int) error { return t.Call(func() error { return f(n) }) })
}

// Each calls f with increasing numbers for a slice of time.
func (p Pace) Each(ctx context.Context, next *int, f func(n int) error) error {
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

// Sample summarises the calls.
func (t *Times) Sample() Sample {
	n := len(t.Latencies)
	if n == 0 {
		return Sample{}
	}
	slices.Sort(t.Latencies)
	at := func(share float64) float64 {
		return float64(t.Latencies[min(n-1, int(share*float64(n)))].Microseconds()) / 1000
	}
	return Sample{
		Requests: n, P50: at(0.50), P95: at(0.95), P99: at(0.99), PerSecond: float64(n) / t.Took.Seconds(),
		CPU: float64(t.CPU.Microseconds()) / 1000 / float64(n),
	}
}

// Ratios returns the ratios of another sample to this one.
func (s Sample) Ratios(other Sample) (p50, p95, rate float64) {
	if s.Requests == 0 {
		return 0, 0, 0
	}
	return other.P50 / s.P50, other.P95 / s.P95, other.PerSecond / s.PerSecond
}
