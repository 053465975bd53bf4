package speed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// SoakOptions of a soak test.
type SoakOptions struct {
	Size     target.Size
	Data     content.Data
	Clients  int
	For      time.Duration
	Share    float64       // of the highest rate, 0..1
	Every    time.Duration // interval between two readings
	Settings []string
	Progress io.Writer
}

// Soak is the result of minutes of mixed traffic.
type Soak struct {
	Size     string          `json:"size"`
	Machine  measure.Machine `json:"machine"`
	Highest  float64         `json:"highest_per_second"`
	Paced    float64         `json:"paced_per_second"`
	Requests int64           `json:"requests"`
	Errors   int64           `json:"errors"`
	Readings []Reading       `json:"readings"`
	Before   Rest            `json:"before"` // the traffic
	After    Rest            `json:"after"`
	Verified string          `json:"verified"` // the last verification of both stores
}

// Reading is the state of the server at an instant.
type Reading struct {
	Seconds     float64 `json:"seconds"`
	Memory      int64   `json:"own_bytes"` // see measure.Memory.Own
	Goroutines  float64 `json:"goroutines"`
	Descriptors float64 `json:"open_descriptors"`
	Errors      int64   `json:"errors"`
	P95         float64 `json:"p95_ms"`
}

// RunSoak finds the highest rate of mixed traffic, and then sends a share of it.
func RunSoak(ctx context.Context, o SoakOptions) (report Soak, err error) {
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	b := &bench{Options: Options{Size: o.Size, Progress: o.Progress}, server: server, report: &Report{}}
	if err := b.load(ctx, o.Data); err != nil {
		return report, err
	}
	report.Size, report.Machine = string(o.Size), measure.ThisMachine()
	if report.Before, _, err = b.rest(ctx); err != nil {
		return report, err
	}

	var next atomic.Int64
	mixed := func(ctx context.Context, n int) error { return b.mixed(ctx, o.Data, n) }
	fmt.Fprintln(o.Progress, "finding the highest rate")
	var highest measure.Times
	if err := highest.Run(ctx, o.Clients, 15*time.Second, &next, mixed); err != nil {
		return report, err
	}
	report.Highest = highest.Sample().PerSecond
	report.Paced = report.Highest * o.Share
	fmt.Fprintf(o.Progress, "%.0f requests a second for %s\n", report.Paced, o.For)
	if err := b.soak(ctx, o, &next, mixed, &report); err != nil {
		return report, err
	}
	report.After, report.Verified, err = b.rest(ctx)
	return report, err
}

// verified verifies the stores until no row is in flight.
func (b *bench) verified(ctx context.Context) (verification, error) {
	for {
		found, err := b.verify(ctx)
		if err != nil || found.InFlight == 0 {
			return found, err
		}
		select {
		case <-ctx.Done():
			return found, ctx.Err()
		case <-time.After(5 * time.Second):
		}
	}
}

// mixed is one request of a chat backend: most are recalls, fewer are turns, and the
// fewest are direct writes.
func (b *bench) mixed(ctx context.Context, data content.Data, n int) error {
	random := rand.New(rand.NewPCG(uint64(n), 11))
	user := data.User(random.IntN(data.Users))
	path, request := "/v1/recall", map[string]any{"user_id": user, "query": content.Query(random.IntN(queries))}
	switch kind := random.IntN(10); {
	case kind >= 9:
		path = "/v1/memories"
		request = map[string]any{"user_id": user, "content": content.Sentence(random, 15), "importance": 0.8}
	case kind >= 6:
		content := "My favourite thing is " + content.Sentence(random, 8)
		path = "/v1/turns"
		request = map[string]any{
			"user_id": user, "messages": []map[string]string{{"role": "user", "content": content}},
		}
	}
	_, err := b.server.Do(ctx, "POST", path, target.Body(request))
	return err
}

// soak sends requests at a constant rate, independent of the answers, and reads the
// state of the server in the meantime.
func (b *bench) soak(
	ctx context.Context, o SoakOptions, next *atomic.Int64, f func(context.Context, int) error, report *Soak,
) error {
	var (
		wait      sync.WaitGroup
		mu        sync.Mutex
		latencies []time.Duration
		failed    atomic.Int64
		firstErr  error
		tickets   = make(chan int, 1024)
	)
	for range o.Clients * 4 {
		wait.Go(func() {
			for n := range tickets {
				at := time.Now()
				err := f(ctx, n)
				mu.Lock()
				latencies = append(latencies, time.Since(at))
				if err != nil {
					failed.Add(1)
					firstErr = cmp.Or(firstErr, err)
				}
				mu.Unlock()
			}
		})
	}
	pace := time.NewTicker(time.Duration(float64(time.Second) / report.Paced))
	defer pace.Stop()
	readings := time.NewTicker(o.Every)
	defer readings.Stop()
	begin := time.Now()
	for time.Since(begin) < o.For && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-pace.C:
			tickets <- int(next.Add(1))
			report.Requests++
		case <-readings.C:
			mu.Lock()
			t := measure.Times{Latencies: latencies, Took: o.Every}
			latencies = nil
			mu.Unlock()
			r, err := b.read(ctx)
			if err != nil {
				return err
			}
			r.Seconds = time.Since(begin).Seconds()
			r.P95 = t.Sample().P95
			r.Errors = failed.Load()
			report.Readings = append(report.Readings, r)
		}
	}
	close(tickets)
	wait.Wait()
	if report.Errors = failed.Load(); report.Errors > 0 {
		fmt.Fprintf(o.Progress, "%d requests failed, the first: %v\n", report.Errors, firstErr)
	}
	return ctx.Err()
}

func (b *bench) read(ctx context.Context) (r Reading, err error) {
	held, err := b.server.Memory()
	if err != nil {
		return r, err
	}
	r.Memory = held.Own()
	if r.Goroutines, err = b.server.Metric(ctx, "go_goroutines"); err != nil {
		return r, err
	}
	r.Descriptors, err = b.server.Metric(ctx, "process_open_fds")
	return r, err
}

// verification is the report of a verification.
type verification struct {
	Checked   int                 `json:"checked"`
	InFlight  int                 `json:"in_flight"`
	Missing   struct{ Count int } `json:"missing"`
	Orphaned  struct{ Count int } `json:"orphaned"`
	Different struct{ Count int } `json:"different"`
}

func (b *bench) verify(ctx context.Context) (found verification, err error) {
	var job struct {
		ID    json64 `json:"id"`
		State string `json:"state"`
		Error string `json:"error"`

		Result *verification `json:"result"`
	}
	job.Result = &found
	if err := b.server.Call(ctx, "POST", "/v1/admin/verify", nil, &job); err != nil {
		return found, err
	}
	for job.State != "completed" {
		if job.State == "discarded" || job.State == "cancelled" {
			return found, errors.New("verification failed: " + job.Error)
		}
		select {
		case <-ctx.Done():
			return found, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		if err := b.server.Call(ctx, "GET", "/v1/jobs/"+string(job.ID), nil, &job); err != nil {
			return found, err
		}
	}
	return found, nil
}

// json64 is a number or a string in its original form.
type json64 string

// UnmarshalJSON keeps the digits.
func (j *json64) UnmarshalJSON(text []byte) error {
	*j = json64(strings.Trim(string(text), `"`))
	return nil
}
