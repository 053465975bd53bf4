package speed

import (
	"context"
	"fmt"
	"hippocampus/cmd/bench/measure"
	"io"
	"maps"
	"slices"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// RequestsReport is the measurement of several kinds of request.
type RequestsReport struct {
	Size     string                    `json:"size"`
	Machine  measure.Machine           `json:"machine"`
	Settings []string                  `json:"settings,omitempty"`
	Loads    []Load                    `json:"loads"`
	Requests map[string]measure.Sample `json:"requests"` // by kind
}

// measure measures requests of one kind for a duration, after a warm-up of a quarter
// of it.
func (r *RequestsReport) measure(
	ctx context.Context, kind string, clients int, while time.Duration,
	request func(ctx context.Context, n int) error,
) error {
	var warm, measured measure.Times
	var next atomic.Int64
	if err := warm.Run(ctx, clients, while/4, &next, request); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if err := measured.Run(ctx, clients, while, &next, request); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	r.Requests[kind] = measured.Sample()
	return nil
}

// Print writes the report as a table for people.
func (r RequestsReport) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range r.Loads {
		fmt.Fprintf(out, "%s, %d cores, %s memories, %.0f written a second; database of %.1f MB\n\n",
			r.Size, r.Machine.Cores, l.Data, l.PerSecond, float64(l.Database)/1e6)
	}
	fmt.Fprintln(w, "request\tn\tp50 ms\tp95 ms\tp99 ms\ta second\t")
	for _, kind := range slices.Sorted(maps.Keys(r.Requests)) {
		s := r.Requests[kind]
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.0f\t\n", kind, s.Requests, s.P50, s.P95, s.P99, s.PerSecond)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if ratio, added, ok := r.turnRatio(); ok {
		fmt.Fprintf(out, "\n%s: p50 %.2f times that of the context alone, %+.2f ms\n", contextByTurn, ratio, added)
	}
	return nil
}
