package quality

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes the report as tables for people.
func (r Report) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, lag := range Lags {
		fmt.Fprintf(w, "%s after the last turn\tquestions\tR@5\tR@10\t(95 %%)\tR@20\tnDCG@10\tMRR\t(95 %%)\n", lag.Name)
		for _, row := range r.Results {
			if row.Lag != lag.Name {
				continue
			}
			name := row.Ranking
			switch {
			case row.Ranking != "modulated" && row.Category+row.Conversation != "":
				continue
			case row.Category+row.Conversation != "":
				name = "  " + row.Category + row.Conversation
			}
			m := row.Mean.Mean
			fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f-%.3f\t%.3f\t%.3f\t%.3f\t%.3f-%.3f\n", name, row.Questions,
				m.R5, m.R10, row.Low.R10, row.High.R10, m.R20, m.NDCG, m.MRR, row.Low.MRR, row.High.MRR)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
