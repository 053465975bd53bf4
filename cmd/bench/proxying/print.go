package proxying

import (
	"fmt"
	"io"
	"text/tabwriter"

	"hippocampus/cmd/bench/measure"
)

// Print writes the report as tables for people.
func (r Report) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s, %d cores, %s memories\n\n", r.Size, r.Machine.Cores, r.Data)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "one client\tn\tp50 ms\tp95 ms\tp99 ms\t")
	for _, row := range []struct {
		name   string
		sample measure.Sample
	}{
		{"reverse proxy, first byte", r.Reverse}, {"proxy, first byte", r.Proxy},
		{"without its memory", r.Rest}, {"/v1/context", r.Context},
	} {
		s := row.sample
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t\n", row.name, s.Requests, s.P50, s.P95, s.P99)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nthe proxy adds %.2f ms at the median; %d of %d requests were given memory\n\n",
		r.Overhead(), r.Injected, r.Proxy.Requests)
	fmt.Fprintln(w, "open streams\tn\twith memory\tMiB before\tMiB\t")
	for _, held := range r.Streams {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\n", held.Name, held.Open, held.Injected, held.Before>>20, held.During>>20)
	}
	return w.Flush()
}
