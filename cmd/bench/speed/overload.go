package speed

import (
	"cmp"
	"context"
	"fmt"
	"io"
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
	Kinds    []string      // of requests, see overloads
	Clients  []int         // numbers of clients that send without a pause, each over its own connection
	Slice    time.Duration // of each number of clients in one round
	Rounds   int
	Settings []string
	Progress io.Writer
}

// Overload is one client alone and crowds of clients, measured alternately in one run.
type Overload struct {
	Size     string          `json:"size"`
	Machine  measure.Machine `json:"machine"`
	Settings []string        `json:"settings,omitempty"`
	Data     string          `json:"data"`
	Crowds   []Crowd         `json:"crowds"` // of each kind, one client alone first
}

// Crowd is a number of clients that send requests of one kind without a pause. After a refusal with 503, patient
// clients wait for one to two times what Retry-After names, and others repeat the request at once.
type Crowd struct {
	Kind    string         `json:"kind"`
	Clients int            `json:"clients"`
	Patient bool           `json:"patient"`
	Served  measure.Sample `json:"served"`
	Refused measure.Sample `json:"refused"`

	served, refused measure.Times
}

// Share is the share of requests that were refused.
func (c Crowd) Share() float64 {
	return float64(c.Refused.Requests) / float64(max(1, c.Served.Requests+c.Refused.Requests))
}

// RunOverload fills a server, and overloads it with each kind of requests.
func RunOverload(ctx context.Context, o OverloadOptions) (report Overload, err error) {
	report = Overload{
		Size: string(o.Size), Machine: measure.ThisMachine(), Settings: o.Settings, Data: o.Data.String(),
	}
	for _, kind := range o.Kinds {
		if overloads[kind] == nil {
			return report, fmt.Errorf("--kinds knows no %q", kind)
		}
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
	var next atomic.Int64
	for _, kind := range o.Kinds {
		crowds, err := b.crowds(ctx, o, kind, &next)
		if err != nil {
			return report, fmt.Errorf("%s: %w\n%s", kind, err, server.Log())
		}
		report.Crowds = append(report.Crowds, crowds...)
	}
	return report, nil
}

// crowds measures one client alone, each number of patient clients, and the greatest number of impatient ones.
func (b *bench) crowds(ctx context.Context, o OverloadOptions, kind string, next *atomic.Int64) ([]Crowd, error) {
	crowds := []Crowd{{Kind: kind, Clients: 1, Patient: true}}
	for _, clients := range o.Clients {
		crowds = append(crowds, Crowd{Kind: kind, Clients: clients, Patient: true})
	}
	crowds = append(crowds, Crowd{Kind: kind, Clients: crowds[len(crowds)-1].Clients})
	send := func(ctx context.Context, n int) error { return overloads[kind](ctx, b.server, o.Data, n) }
	for round := range o.Rounds {
		fmt.Fprintf(o.Progress, "%s: round %d of %d\n", kind, round+1, o.Rounds)
		for i := range crowds {
			if err := crowds[i].run(ctx, o.Slice, next, send); err != nil {
				return nil, err
			}
			if err := settleTurns(ctx, b.server); err != nil {
				return nil, err
			}
		}
	}
	for i := range crowds {
		crowds[i].Served, crowds[i].Refused = crowds[i].served.Sample(), crowds[i].refused.Sample()
	}
	return crowds, nil
}

// Print writes the report as a table for people.
func (o Overload) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s, %d cores, %s memories\n\n", o.Size, o.Machine.Cores, o.Data)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "kind\tclients\tafter a refusal\tserved\trefused\t%\tp50 ms\tp95 ms\tp99 ms\ta second\t"+
		"p95 to alone\trate to alone\trefusal p50 ms\t")
	var alone measure.Sample
	for _, c := range o.Crowds {
		if c.Clients == 1 {
			alone = c.Served
		}
		after, s := "repeats", c.Served
		if c.Patient {
			after = "waits"
		}
		_, p95, rate := alone.Ratios(s)
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%.1f\t%.2f\t%.2f\t%.2f\t%.0f\t%.2f\t%.2f\t%.1f\t\n", c.Kind, c.Clients, after,
			s.Requests, c.Refused.Requests, 100*c.Share(), s.P50, s.P95, s.P99, s.PerSecond, p95, rate, c.Refused.P50)
	}
	return w.Flush()
}
