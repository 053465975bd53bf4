package speed

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"hippocampus/cmd/bench/target"
)

// SlicesOptions choose how one user with many memories is measured.
type SlicesOptions struct {
	Size     target.Size
	Memories int           // of the one user; every hundredth has a tag
	For      time.Duration // of each kind of request
	Settings []string
	Progress io.Writer
}

// SlicesReport is what lists and recalls of slices of time took.
type SlicesReport struct {
	Size     string            `json:"size"`
	Machine  Machine           `json:"machine"`
	Settings []string          `json:"settings,omitempty"`
	Loads    []Load            `json:"loads"`
	Requests map[string]Sample `json:"requests"` // one client
}

// RunSlices fills a server with one user's memories, a minute apart, and asks
// for random days of them.
func RunSlices(ctx context.Context, o SlicesOptions) (report SlicesReport, err error) {
	report = SlicesReport{Size: string(o.Size), Machine: machine(), Settings: o.Settings, Requests: map[string]Sample{}}
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	begin := time.Now() // before anything is recorded
	loaded := Report{}
	data := Data{Users: 1, Each: o.Memories, Tag: "tagged"}
	b := &bench{Options: Options{Progress: o.Progress}, server: server, report: &loaded}
	if err := b.load(ctx, data); err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	report.Loads = loaded.Loads
	user := data.user(0)
	get := func(query string) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error {
			_, err := server.Do(ctx, "GET", "/v1/memories?limit=50&user_id="+user+query, nil)
			return err
		}
	}
	day := func(n int) (since, until string) {
		at := start.Add(time.Duration(rand.New(rand.NewPCG(uint64(n), 3)).IntN(o.Memories)) * time.Minute)
		return at.Format(time.RFC3339), at.AddDate(0, 0, 1).Format(time.RFC3339)
	}
	recall := func(n int, more map[string]any) error {
		more["user_id"], more["query"] = user, query(n%queries)
		_, err := server.Do(ctx, "POST", "/v1/recall", body(more))
		return err
	}
	asOf := func(at time.Time) string { return "&as_of=" + url.QueryEscape(at.UTC().Format(time.RFC3339Nano)) }
	for name, request := range map[string]func(context.Context, int) error{
		"list a day": func(ctx context.Context, n int) error {
			since, until := day(n)
			return get("&since="+since+"&until="+until)(ctx, n)
		},
		"list a tag":               get("&tag=" + data.Tag),
		"list a type nothing has":  get("&type=skill"),
		"list as of now":           get(asOf(time.Now())),
		"list as of before it all": get(asOf(begin)),
		"recall a day": func(_ context.Context, n int) error {
			since, until := day(n)
			return recall(n, map[string]any{"since": since, "until": until})
		},
		"recall a tag": func(_ context.Context, n int) error { return recall(n, map[string]any{"tags": []string{data.Tag}}) },
		"recall":       func(_ context.Context, n int) error { return recall(n, map[string]any{}) },
	} {
		fmt.Fprintln(o.Progress, name)
		var warm, measured times
		var next atomic.Int64
		if err := warm.run(ctx, 1, o.For/4, &next, request); err != nil {
			return report, fmt.Errorf("%s: %w", name, err)
		}
		if err := measured.run(ctx, 1, o.For, &next, request); err != nil {
			return report, fmt.Errorf("%s: %w", name, err)
		}
		report.Requests[name] = measured.sample()
	}
	return report, nil
}

// Print writes the report as a table for people.
func (r SlicesReport) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range r.Loads {
		fmt.Fprintf(out, "%s, %d cores, %d memories of one user, %.0f written a second\n\n", r.Size, r.Machine.Cores, l.Memories, l.PerSecond)
	}
	fmt.Fprintln(w, "request\tn\tp50 ms\tp95 ms\tp99 ms\t")
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		s := r.Requests[name]
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t\n", name, s.Requests, s.P50, s.P95, s.P99)
	}
	return w.Flush()
}
