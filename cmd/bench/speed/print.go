package speed

import (
	"fmt"
	"hippocampus/cmd/bench/measure"
	"io"
	"text/tabwriter"
)

// Print writes the report as tables for people.
func (r Report) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "%s, %d cores\n\n", r.Size, r.Machine.Cores)
	fmt.Fprintln(w, "loaded\tmemories\tper second\tfloor\tCPU ms each\trest s\town MiB\tmapped files\t")
	for _, l := range r.Loads {
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f\t%.2f\t%.0f\t%d\t%d\t\n",
			l.Data, l.Memories, l.PerSecond, l.Floor, l.CPU, l.Rest, l.Memory.Own()>>20, l.Memory.Mapped>>20)
	}
	fmt.Fprintln(w, "\t\t\t\t\t\t\t\t")
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\tdata\tclients\t\tp50 ms\tp95 ms\tp99 ms\tper second\tCPU ms\t")
	for _, p := range r.Pairs {
		row := func(name, side string, s measure.Sample) {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%.2f\t%.2f\t%.2f\t%.0f\t%.2f\t\n",
				name, p.Data, p.Clients, side, s.P50, s.P95, s.P99, s.PerSecond, s.CPU)
		}
		if p.Floor.Requests > 0 {
			row(p.Name, "floor", p.Floor)
		}
		ratio := func(s measure.Sample) {
			if p.Floor.Requests > 0 {
				p50, p95, rate := p.Floor.Ratios(s)
				fmt.Fprintf(w, "%s\t%s\t%d\tratio\t%.2f\t%.2f\t\t%.2f\t\t\n", p.Name, p.Data, p.Clients, p50, p95, rate)
			}
		}
		if p.OverHTTP.Requests > 0 {
			row(p.Name, "floor over HTTP", p.OverHTTP)
			ratio(p.OverHTTP)
		}
		row(p.Name, "server", p.Server)
		ratio(p.Server)
	}
	return w.Flush()
}
