package times

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes the report as tables.
func (r Report) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "half\tlanguage\tzone\tquestions\tfirst\tfirst three")
	for _, half := range halves {
		all := Result{}
		for _, l := range r.Results {
			if l.Half != half {
				continue
			}
			l.printTo(w)
			all.Questions += l.Questions
			all.First += l.First
			all.Three += l.Three
		}
		all.Half = half
		all.Language, all.Zone = "all", "all"
		all.printTo(w)
	}
	return w.Flush()
}

func (l *Result) printTo(w io.Writer) {
	share := func(n int) float64 { return 100 * float64(n) / float64(max(1, l.Questions)) }
	fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.0f %%\t%.0f %%\n",
		l.Half, l.Language, l.Zone, l.Questions, share(l.First), share(l.Three))
}
