package contradictions

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"hippocampus/cmd/bench/target"
	"hippocampus/internal/llm"
)

// Report holds the results of each language, with and without a judge.
type Report struct {
	Embedder string   `json:"embedder"`
	Half     string   `json:"half"`
	Judged   []Result `json:"judged"`
	Rules    []Result `json:"rules"`
}

// Among selects the other statements that the users of the pairs have made.
type Among struct {
	Everyday map[string][]string // statements by language; nil: the older statements of pairs about other attributes
	Counts   []int               // of other statements; each count is measured alone
}

// AllPairs is the half that has the pairs of both halves.
const AllPairs = "all"

// Run measures the pairs of a half, in each language: with the honest judge, and without a model on a server.
func Run(
	ctx context.Context, embedder llm.Embedder, all []Pair, half string, among Among,
) (r Report, err error) {
	r = Report{Embedder: embedder.Model(), Half: half}
	server, err := target.Start(ctx, target.Options{Size: target.Small})
	if err != nil {
		return r, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	for _, language := range []string{"en", "zh"} {
		ofLanguage := slices.DeleteFunc(slices.Clone(all), func(p Pair) bool { return p.Language != language })
		pairs := slices.DeleteFunc(slices.Clone(ofLanguage), func(p Pair) bool { return half != AllPairs && p.Half != half })
		if len(pairs) == 0 {
			return r, fmt.Errorf("there are no pairs in the language %s of the half %s", language, half)
		}
		others := []func(Pair) []string{OthersOf(ofLanguage)}
		if among.Everyday != nil {
			others = others[:0]
			for _, n := range among.Counts {
				statements := among.Everyday[language]
				others = append(others, func(Pair) []string { return statements[:min(n, len(statements))] })
			}
		}
		for _, others := range others {
			judged, err := Measure(ctx, embedder, pairs, others)
			if err != nil {
				return r, err
			}
			rules, err := MeasureTurns(ctx, server.Client, pairs, others)
			if err != nil {
				return r, err
			}
			r.Judged, r.Rules = append(r.Judged, judged), append(r.Rules, rules)
		}
	}
	return r, nil
}

// Print writes the report as tables.
func (r Report) Print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s, %s half\tothers\tfloor\tjudged\tended right\trelated judged\tcalls a fact\tmemories a call\n",
		r.Embedder, r.Half)
	for _, l := range r.Judged {
		fmt.Fprintf(table, "%s\t%d\t%.2f\t%d of %d\t%d\t%d of %d\t%.2f\t%.1f\n", l.Language, l.Others, l.Floor,
			l.Contradicts.Asked, l.Contradicts.Pairs, l.Contradicts.Superseded, l.Related.Asked, l.Related.Pairs,
			float64(l.Calls)/float64(l.Facts), l.Memories)
	}
	fmt.Fprintf(table, "\nwithout a model\tothers\tsuperseded\trelated ones superseded\n")
	for _, l := range r.Rules {
		fmt.Fprintf(table, "%s\t%d\t%d of %d\t%d of %d\n", l.Language, l.Others,
			l.Contradicts.Superseded, l.Contradicts.Pairs, l.Related.Superseded, l.Related.Pairs)
	}
	return table.Flush()
}
