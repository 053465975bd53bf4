package speed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// OverloadOptions of a measurement of more clients than a server has room for.
type OverloadOptions struct {
	Size     target.Size
	Data     content.Data
	Clients  int           // that recall without a pause, each over its own connection
	Slice    time.Duration // of one client alone, and of all clients, in one round
	Rounds   int
	Settings []string
	Progress io.Writer
}

// Overload is one client alone and many clients, measured alternately in one run. A
// client that is refused with 503 waits for one to two times what Retry-After names.
type Overload struct {
	Size     string          `json:"size"`
	Machine  measure.Machine `json:"machine"`
	Settings []string        `json:"settings,omitempty"`
	Data     string          `json:"data"`
	Clients  int             `json:"clients"`
	Alone    measure.Sample  `json:"alone"`
	Served   measure.Sample  `json:"served"` // of the many clients
	Shed     int             `json:"shed"`   // requests of the many clients that were refused with 503
}

// RunOverload fills a server and overloads it with recalls.
func RunOverload(ctx context.Context, o OverloadOptions) (report Overload, err error) {
	report = Overload{
		Size: string(o.Size), Machine: measure.ThisMachine(), Settings: o.Settings, Data: o.Data.String(), Clients: o.Clients,
	}
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	b := &bench{
		Options: Options{Progress: o.Progress}, server: server, all: []*target.Server{server}, report: &Report{},
	}
	fmt.Fprintf(o.Progress, "loading %s\n", o.Data)
	if err := server.Load(ctx, o.Data.All()); err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	if err := b.meet(ctx, o.Data); err != nil {
		return report, err
	}
	var next, shed atomic.Int64
	recall := func(ctx context.Context, n int) error {
		random := rand.New(rand.NewPCG(uint64(n), 7))
		ask := map[string]any{
			"user_id": o.Data.User(random.IntN(o.Data.Users)), "query": o.Data.Query(random.IntN(queries)),
		}
		_, err := server.Do(ctx, "POST", "/v1/recall", target.Body(ask))
		return err
	}
	var alone, served measure.Times
	for round := range o.Rounds {
		fmt.Fprintf(o.Progress, "round %d of %d\n", round+1, o.Rounds)
		if err := alone.Run(ctx, 1, o.Slice, &next, recall); err != nil {
			return report, err
		}
		if err := crowd(ctx, &served, o.Clients, o.Slice, &next, &shed, recall); err != nil {
			return report, err
		}
	}
	report.Alone, report.Served = alone.Sample(), served.Sample()
	report.Shed = int(shed.Load())
	return report, nil
}

// crowd calls f for a duration with clients that may be refused: it keeps the times of
// served requests, and counts shed ones.
func crowd(
	ctx context.Context, t *measure.Times, clients int, while time.Duration, next, shed *atomic.Int64,
	f func(ctx context.Context, n int) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var wait sync.WaitGroup
	begin := time.Now()
	for range clients {
		wait.Go(func() {
			for time.Since(begin) < while && ctx.Err() == nil {
				at := time.Now()
				err := f(ctx, int(next.Add(1)))
				took := time.Since(at)
				var refused *target.Refusal
				switch {
				case err == nil:
					mu.Lock()
					t.Latencies = append(t.Latencies, took)
					mu.Unlock()
				case errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable:
					shed.Add(1)
					pause := time.Duration(float64(refused.RetryAfter()) * (1 + rand.Float64()))
					select {
					case <-time.After(min(pause, while-time.Since(begin))):
					case <-ctx.Done():
					}
				default:
					cancel(err)
				}
			}
		})
	}
	wait.Wait()
	t.Took += time.Since(begin)
	return context.Cause(ctx)
}

// Print writes the report as a table for people.
func (o Overload) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s, %d cores, %s memories\n\n", o.Size, o.Machine.Cores, o.Data)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "clients\tserved\tshed\tp50 ms\tp95 ms\tp99 ms\ta second\t")
	row := func(clients int, s measure.Sample, shed int) {
		fmt.Fprintf(w, "%d\t%d\t%d\t%.2f\t%.2f\t%.2f\t%.0f\t\n", clients, s.Requests, shed, s.P50, s.P95, s.P99, s.PerSecond)
	}
	row(1, o.Alone, 0)
	row(o.Clients, o.Served, o.Shed)
	p50, p95, rate := o.Alone.Ratios(o.Served)
	fmt.Fprintf(w, "ratio\t\t\t%.2f\t%.2f\t\t%.2f\t\n", p50, p95, rate)
	return w.Flush()
}
