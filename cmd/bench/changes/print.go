package changes

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// Print writes the report as tables.
func (r Report) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	model := "without a model"
	if r.Model {
		model = "with a scripted model"
	}
	fmt.Fprintf(w, "%s\tothers\tpairs\tcurrent first\tformer returned\n", model)
	for _, l := range r.Results {
		share := func(n int) float64 { return 100 * float64(n) / float64(max(1, l.All.Pairs)) }
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f %%\t%.0f %%\n",
			l.Language, l.Others, l.All.Pairs, share(l.All.First), share(l.All.Former))
	}
	fmt.Fprintf(w, "\nfirst / returned of pairs")
	kinds := map[string]bool{}
	for _, l := range r.Results {
		fmt.Fprintf(w, "\t%s %d", l.Language, l.Others)
		for kind := range l.Kinds {
			kinds[kind] = true
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(w, "\n%s", kind)
		for _, l := range r.Results {
			if c := l.Kinds[kind]; c != nil {
				fmt.Fprintf(w, "\t%d / %d of %d", c.First, c.Former, c.Pairs)
			} else {
				fmt.Fprint(w, "\t")
			}
		}
	}
	fmt.Fprintf(w, "\n\none pair of %d is measured among %d others or more\n", r.Each, many)
	return w.Flush()
}
