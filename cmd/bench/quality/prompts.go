package quality

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"hippocampus/cmd/bench/target"
)

// contextBound is the minimum confidence of memories in contexts by default.
const contextBound = 0.15

// PromptSizes are the numbers of characters of pasted text around each question.
var PromptSizes = []int{0, 500, 2_000, 4_000, 16_000}

// Prompts reports how questions are answered inside of prompts.
type Prompts struct {
	Conversations []string    `json:"conversations"`
	Rows          []PromptRow `json:"rows"`
}

// PromptRow summarises the questions with pasted text of one kind and size.
type PromptRow struct {
	Kind      string  `json:"kind"`
	Pasted    int     `json:"pasted"` // characters, at least
	Questions int     `json:"questions"`
	R10       float64 `json:"r10"`
	Sure      float64 `json:"sure"`   // share of the right memories with the confidence that contexts ask for
	P50       float64 `json:"p50_ms"` // of a recall
	Alone     float64 `json:"alone"`  // P50 as a multiple of the p50 of the questions alone, asked at the same time
}

// MeasurePrompts reports conversations turn by turn to a new server, and asks their questions with default settings 7 d
// after the last turn: alone, and inside of pasted code, logs and mail.
func MeasurePrompts(ctx context.Context, o Options) (report Prompts, err error) {
	conversations, err := load(o.Paths)
	if err != nil {
		return report, err
	}
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	o.Roles = AllUsers
	reported, err := reportTurns(ctx, o, server.Client, conversations)
	if err != nil {
		return report, err
	}
	for _, c := range conversations {
		report.Conversations = append(report.Conversations, c.user())
	}
	for _, size := range PromptSizes {
		for _, kind := range pastes {
			fmt.Fprintf(o.Progress, "asking inside of %d characters of %s\n", size, kind)
			row, err := askInPrompts(ctx, server.Client, conversations, reported, kind, size)
			if err != nil {
				return report, err
			}
			report.Rows = append(report.Rows, row)
			if size == 0 {
				break // the kind makes no difference
			}
		}
	}
	return report, nil
}

func askInPrompts(ctx context.Context, client target.Client, conversations []conversation, reported map[string]string,
	kind string, size int) (PromptRow, error) {
	row := PromptRow{Kind: kind, Pasted: size}
	right, sure := 0, 0
	var took, tookAlone []time.Duration
	for _, c := range conversations {
		ask := func(query string, took *[]time.Duration) ([]recalled, error) {
			began := time.Now()
			list, err := recall(ctx, client, map[string]any{
				"user_id": c.user(), "query": query, "touch": false,
				"at": c.End.Add(ablated[0].Duration).Format(time.RFC3339Nano),
			})
			*took = append(*took, time.Since(began))
			return list, err
		}
		for i, q := range c.asked() {
			_, err := ask(q.Text, &tookAlone)
			if err != nil {
				return row, fmt.Errorf("%s: %w", q.ID, err)
			}
			list, err := ask(inPrompt(q.Text, kind, size, i), &took)
			if err != nil {
				return row, fmt.Errorf("%s in a prompt: %w", q.ID, err)
			}
			turnOf := func(r recalled) string { return reported[r.SourceTurnID] }
			row.Questions++
			row.R10 += measuresOf(turnsOf(list, turnOf), q.Evidence).R10
			for _, r := range list {
				if !slices.Contains(q.Evidence, turnOf(r)) {
					continue
				}
				right++
				if r.Confidence >= contextBound {
					sure++
				}
			}
		}
	}
	row.R10 /= float64(max(1, row.Questions))
	row.Sure = float64(sure) / float64(max(1, right))
	row.P50 = median(took)
	row.Alone = row.P50 / median(tookAlone)
	return row, nil
}

// median returns a duration in milliseconds, 0 for an empty list.
func median(list []time.Duration) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return float64(list[len(list)/2].Microseconds()) / 1000
}

// Print writes the report as a table for people.
func (p Prompts) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "pasted around the question\tquestions\tR@10\tconfident\tp50, ms\tof alone\n")
	for _, row := range p.Rows {
		name := fmt.Sprintf("%d characters of %s", row.Pasted, row.Kind)
		if row.Pasted == 0 {
			name = "nothing"
		}
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.1f\t%.2f\n", name, row.Questions, row.R10, row.Sure, row.P50,
			row.Alone)
	}
	return w.Flush()
}
