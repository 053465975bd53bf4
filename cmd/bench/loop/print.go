package loop

import (
	"fmt"
	"hippocampus/cmd/bench/measure"
	"io"
	"text/tabwriter"
)

// peer has the figures of docs/benchmarks.md for another memory server on such a machine.
// Each rate was measured alone.
var peer = struct {
	name               string
	recalls, adds, p50 float64 // a second, a second, ms
}{name: "mem0 2.2.1", recalls: 97, adds: 3.9, p50: 80}

// Print writes the report as tables for people.
func (r Report) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s, %d cores, servers: %d; %d memories of %d users of %d to %d, loaded at %.0f a second\n",
		r.Size, r.Machine.Cores, r.Servers, r.Memories, r.Users, r.Least, r.Most, r.Loaded)
	highest := ""
	if r.Highest > 0 {
		highest = fmt.Sprintf(" (the highest rate was %.1f)", r.Highest)
	}
	fmt.Fprintf(out, "%d users active at once; %.1f turns a second%s; %d errors, %d turns a second late or more, "+
		"all processed after %.1f s\n\n", r.Active, r.Offered, highest, r.Errors, r.Late, r.Behind)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "request\tn\tper second\tp50 ms\tp95 ms\tp99 ms\t")
	row := func(name string, s measure.Sample) {
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.2f\t%.2f\t%.2f\t\n", name, s.Requests, s.PerSecond, s.P50, s.P95, s.P99)
	}
	row("context", r.Context)
	row("turn", r.Turn)
	fmt.Fprintf(w, "%s, recalls alone\t\t%.1f\t%.2f\t\t\t\n", peer.name, peer.recalls, peer.p50)
	fmt.Fprintf(w, "%s, adds alone\t\t%.1f\t\t\t\t\n", peer.name, peer.adds)
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nprocess\tcores\tCPU ms a turn\tMiB, each page once\t")
	for _, p := range r.Processes {
		fmt.Fprintf(w, "%s\t%.2f\t%.1f\t%d\t\n", p.Name, p.Cores, p.CPU, p.Memory>>20)
	}
	return w.Flush()
}
