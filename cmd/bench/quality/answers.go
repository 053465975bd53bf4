package quality

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"hippocampus/cmd/bench/target"
)

// Answers reports how often contexts literally hold the reference answers of questions.
type Answers struct {
	Conversations []string     `json:"conversations"`
	Asked         int          `json:"asked"` // questions with evidence, also those whose answer is undecidable
	Rows          []AnswersRow `json:"rows"`
}

// AnswersRow is for the decidable answers of one kind or category; both empty: all.
type AnswersRow struct {
	Budget    int     `json:"budget"` // tokens
	Kind      Kind    `json:"kind,omitempty"`
	Category  string  `json:"category,omitempty"`
	Questions int     `json:"questions"`
	Held      float64 `json:"held"`   // share of the answer in the question's context, a mean, 0..1
	Chance    float64 `json:"chance"` // the same in the context of another question of the user
}

// reference is a question whose answer is decidable, with the user's contexts.
type reference struct {
	question
	gold     gold
	evidence []turn
	contexts []string // by budget
}

// MeasureAnswers reports conversations turn by turn to a new server, requests contexts of every budget with default
// settings, and searches them for the answers. What a reader of the context would infer is not found, so that the
// figures are a lower bound; what is found by chance is measured in the contexts of other questions.
func MeasureAnswers(ctx context.Context, o Options) (report Answers, err error) {
	conversations, err := load(o.Paths)
	if err != nil {
		return report, err
	}
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	if _, err := reportTurns(ctx, o, server.Client, conversations); err != nil {
		return report, err
	}
	rows := map[AnswersRow]*AnswersRow{}
	for _, c := range conversations {
		report.Conversations = append(report.Conversations, c.user())
		report.Asked += len(c.asked())
		references, err := referencesOf(ctx, server.Client, c)
		if err != nil {
			return report, err
		}
		for i, r := range references {
			other := references[(i+len(references)/2)%len(references)]
			for b, budget := range Budgets {
				held, chance := r.gold.heldIn(r.contexts[b], r.evidence), r.gold.heldIn(other.contexts[b], r.evidence)
				for _, key := range []AnswersRow{
					{Budget: budget}, {Budget: budget, Kind: r.gold.kind}, {Budget: budget, Category: r.Category},
				} {
					row := cmp.Or(rows[key], &AnswersRow{Budget: key.Budget, Kind: key.Kind, Category: key.Category})
					row.Questions++
					row.Held += held
					row.Chance += chance
					rows[key] = row
				}
			}
		}
	}
	if len(rows) == 0 {
		return report, errors.New("the conversations have no answers: scripts/data writes them")
	}
	report.Rows = summed(rows)
	return report, nil
}

// referencesOf requests the contexts of the questions with decidable answers.
func referencesOf(ctx context.Context, client target.Client, c conversation) (list []reference, err error) {
	for _, q := range c.asked() {
		r := reference{question: q, gold: goldOf(c, q), evidence: evidenceOf(c, q)}
		if r.gold.kind == Undecidable {
			continue
		}
		for _, budget := range Budgets {
			made, err := assemble(ctx, client, c, q, budget)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.ID, err)
			}
			r.contexts = append(r.contexts, made.Text)
		}
		list = append(list, r)
	}
	return list, nil
}

// summed returns the means in the order of budgets, kinds and categories.
func summed(rows map[AnswersRow]*AnswersRow) (list []AnswersRow) {
	for _, row := range rows {
		row.Held /= float64(row.Questions)
		row.Chance /= float64(row.Questions)
		list = append(list, *row)
	}
	slices.SortFunc(list, func(a, b AnswersRow) int {
		return cmp.Or(cmp.Compare(a.Budget, b.Budget), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

// Print writes the report as a table for people.
func (a Answers) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "tokens\tanswers\tquestions\theld\tby chance\n")
	for _, row := range a.Rows {
		name := cmp.Or(row.Category+string(row.Kind), fmt.Sprintf("all (of %d questions)", a.Asked))
		fmt.Fprintf(w, "%d\t%s\t%d\t%.3f\t%.3f\n", row.Budget, name, row.Questions, row.Held, row.Chance)
	}
	return w.Flush()
}
