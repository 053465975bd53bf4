package chinese

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// rank counts the place of a turn among the turns of an answer, each of which counts once.
func (r *Report) rank(kind *Ranks, a answer, turn, question, statement string) {
	seen := map[string]bool{}
	place, sure := 0, false
	for _, m := range a.Memories {
		if !seen[m.SourceTurnID] {
			seen[m.SourceTurnID] = true
			if m.SourceTurnID == turn {
				place = len(seen)
			}
		}
		sure = sure || m.SourceTurnID == turn && m.Confidence >= Bound
	}
	for _, ranks := range []*Ranks{kind, &r.All} {
		ranks.add(place, sure)
	}
	if place == 0 || place > 5 {
		r.Failures = append(r.Failures, Failure{Question: question, Statement: statement, Rank: place})
	}
}

// add adds a question whose statement has a place from 1, or 0 if it was not returned.
func (k *Ranks) add(place int, sure bool) {
	k.Questions++
	if place == 0 {
		return
	}
	k.found++
	k.MRR += 1 / float64(place)
	if place == 1 {
		k.R1++
	}
	if place <= 5 {
		k.R5++
	}
	if sure {
		k.Kept++
	}
}

// finish turns numbers into shares.
func (r *Report) finish() {
	for _, k := range []*Ranks{&r.Near, &r.Far, &r.All} {
		n := float64(max(1, k.Questions))
		k.R1 /= n
		k.R5 /= n
		k.MRR /= n
		k.Kept /= float64(max(1, k.found))
	}
	r.Foreign.Refused /= float64(max(1, r.Foreign.Questions))
}

// Print writes the report as a table.
func (r Report) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "among %d others\tquestions\tR@1\tR@5\tMRR\tkept at %.2f\n", r.Others, Bound)
	for _, row := range []struct {
		name  string
		ranks Ranks
	}{{"shared words", r.Near}, {"no pair shared", r.Far}, {"all", r.All}} {
		k := row.ranks
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\n", row.name, k.Questions, k.R1, k.R5, k.MRR, k.Kept)
	}
	fmt.Fprintf(w, "foreign\t%d\trefused at %.2f: %.3f\n", r.Foreign.Questions, Bound, r.Foreign.Refused)
	return w.Flush()
}
