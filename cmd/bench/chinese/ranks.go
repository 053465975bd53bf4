package chinese

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// count counts the answer to one of the questions of a statement. Memories of one turn count once.
func (r *Report) count(u user, kind Kind, s Statement, a answer) {
	counted := Answer{User: u.id, Kind: kind, Question: s.Near, Fit: a.Fit}
	if kind == Far {
		counted.Question = s.Far
	}
	turn, place := u.turns[s.Text], 0
	seen := map[string]bool{}
	for _, m := range a.Memories {
		counted.Best = max(counted.Best, m.Confidence)
		if seen[m.SourceTurnID] {
			continue
		}
		seen[m.SourceTurnID] = true
		if m.SourceTurnID == turn {
			place, counted.Found = len(seen), m.Confidence
		}
	}
	r.Answers = append(r.Answers, counted)
	if kind == Foreign {
		return
	}
	ranks := &r.Near
	if kind == Far {
		ranks = &r.Far
	}
	ranks.add(place)
	r.All.add(place)
	if place == 0 || place > 5 {
		r.Failures = append(r.Failures, Failure{Question: counted.Question, Statement: s.Text, Rank: place})
	}
}

// add counts a question by the place of its statement in the answer, from 1; 0: it was not returned.
func (k *Ranks) add(place int) {
	k.Questions++
	if place == 0 {
		return
	}
	k.MRR += 1 / float64(place)
	if place == 1 {
		k.R1++
	}
	if place <= 5 {
		k.R5++
	}
}

// finish turns numbers into shares, and computes the trade-off.
func (r *Report) finish() {
	for _, k := range []*Ranks{&r.Near, &r.Far, &r.All} {
		n := float64(max(1, k.Questions))
		k.R1 /= n
		k.R5 /= n
		k.MRR /= n
	}
	for _, bound := range Bounds {
		r.Bounds = append(r.Bounds, TradeOff{
			Bound:   bound,
			Refused: r.share(Foreign, func(a Answer) bool { return a.Best < bound }),
			Near:    r.share(Near, func(a Answer) bool { return a.Found >= bound }),
			Far:     r.share(Far, func(a Answer) bool { return a.Found >= bound }),
		})
	}
}

// share returns the share of the answers of a kind for which a condition is true. A question with an answer counts only
// if its statement was returned.
func (r *Report) share(kind Kind, is func(Answer) bool) float64 {
	n, all := 0, 0
	for _, a := range r.Answers {
		if a.Kind != kind || kind != Foreign && a.Found == 0 {
			continue
		}
		all++
		if is(a) {
			n++
		}
	}
	return float64(n) / float64(max(1, all))
}

// Print writes the report as tables.
func (r Report) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "among %d others\tquestions\tR@1\tR@5\tMRR\n", r.Others)
	for _, row := range []struct {
		name  string
		ranks Ranks
	}{{"shared words", r.Near}, {"no pair shared", r.Far}, {"all", r.All}} {
		k := row.ranks
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\n", row.name, k.Questions, k.R1, k.R5, k.MRR)
	}
	fmt.Fprint(w, "\nleast confidence")
	for _, b := range r.Bounds {
		fmt.Fprintf(w, "\t%.2f", b.Bound)
	}
	for _, row := range []struct {
		name  string
		share func(TradeOff) float64
	}{
		{"foreign questions refused", func(b TradeOff) float64 { return b.Refused }},
		{"kept of shared words", func(b TradeOff) float64 { return b.Near }},
		{"kept of no pair shared", func(b TradeOff) float64 { return b.Far }},
	} {
		fmt.Fprintf(w, "\n%s", row.name)
		for _, b := range r.Bounds {
			fmt.Fprintf(w, "\t%.2f", row.share(b))
		}
	}
	fmt.Fprintln(w)
	return w.Flush()
}
