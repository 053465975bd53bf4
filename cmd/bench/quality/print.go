package quality

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Print writes the report as tables for people.
func (r Report) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(r.Contexts) > 0 {
		printContexts(w, r.Contexts)
		return w.Flush()
	}
	if len(r.Missed) > 0 {
		printMissed(w, r.Missed)
		return w.Flush()
	}
	if len(r.Confidence) > 0 {
		printTradeOffs(w, r.Confidence)
		return w.Flush()
	}
	for _, lag := range Lags {
		fmt.Fprintf(w, "%s after the last turn\tquestions\tR@5\tR@10\t(95 %%)\tR@20\tnDCG@10\tMRR\t(95 %%)\n", lag.Name)
		for _, row := range r.Results {
			if row.Lag != lag.Name || row.Without != "" {
				continue
			}
			name := row.Ranking
			switch {
			case !slices.Contains([]string{"modulated", turnsByDefaults}, row.Ranking) && row.Category+row.Conversation != "":
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
	if r.Through != nil {
		fmt.Fprintf(w, "evidence that was reported as turns and can be recalled: %d of %d (%.3f)\n\n",
			r.Through.Recallable, r.Through.Evidence, r.Through.Share)
		if r.Through.Failed > 0 {
			fmt.Fprintf(w, "turns that the server gave up: %d\n\n", r.Through.Failed)
		}
	}
	printAblations(w, r.Results)
	return w.Flush()
}

// printAblations writes the effect of each part, if it was measured.
func printAblations(w io.Writer, results []Result) {
	var whole Measures
	for _, row := range results {
		if row.Lag != ablated[0].Name || row.Ranking != "modulated" || row.Category+row.Conversation != "" {
			continue
		}
		m := row.Mean.Mean
		if row.Without == "" {
			whole = m
			continue
		}
		if row.Without == Parts[0].Name {
			fmt.Fprintf(w, "modulated, %s\tR@10\tchange\tMRR\tchange\nall parts\t%.3f\t\t%.3f\t\n",
				row.Lag, whole.R10, whole.MRR)
		}
		fmt.Fprintf(w, "without %s\t%.3f\t%+.3f\t%.3f\t%+.3f\n", row.Without, m.R10, m.R10-whole.R10, m.MRR, m.MRR-whole.MRR)
	}
}

// printContexts writes how much evidence contexts hold, by budget.
func printContexts(w io.Writer, list []Held) {
	fmt.Fprintf(w, "context, %s after the last turn\ttokens\tquestions\tevidence\tall of it\tused\tmemories\t"+
		"p50 ms\tp95 ms\n", contextLag.Name)
	for _, h := range list {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.3f\t%.3f\t%.0f\t%.1f\t%.1f\t%.1f\n", h.Written, h.Budget, h.Questions,
			h.Evidence, h.Whole, h.Used, h.Memories, h.P50, h.P95)
	}
}
