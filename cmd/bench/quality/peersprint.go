package quality

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes a row for each system.
func (p Peers) Print(out io.Writer) error {
	fmt.Fprintf(out, "%d messages of %d conversations\n\n", p.Messages, len(p.Conversations))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\tquestions\tR@5\tR@10\tMRR\ta message p50, p95 ms\ta recall p50, p95 ms\tCPU ms\t"+
		"recalls a second, %d clients\tp95 ms\tMiB\n", p.Clients)
	for _, s := range p.Systems {
		m := s.Found.Mean
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.1f, %.1f\t%.1f, %.1f\t%.1f\t%.0f\t%.1f\t%d\n",
			s.Name, s.Found.Questions, m.R5, m.R10, m.MRR, s.Report.P50, s.Report.P95, s.Recall.P50, s.Recall.P95,
			s.Recall.CPU, s.Crowd.PerSecond, s.Crowd.P95, s.Memory>>20)
	}
	return w.Flush()
}
