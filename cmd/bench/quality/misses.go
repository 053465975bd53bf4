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

// Misses reports at which stage of a recall evidence is lost.
type Misses struct {
	Conversations []string    `json:"conversations"`
	Rows          []MissesRow `json:"rows"` // by category, then all
}

// MissesRow counts the evidence of the questions of a category. Each turn that is evidence of a question counts once.
type MissesRow struct {
	Category  string        `json:"category"` // empty: all
	Evidence  int           `json:"evidence"`
	Stages    map[Stage]int `json:"stages"`    // how much of it was found or lost where
	Content   int           `json:"content"`   // displaced evidence, see Displaced, that has a place by meaning and words
	Neighbour int           `json:"neighbour"` // the same without what neighbours in the conversation add
	Freshness int           `json:"freshness"` // the same without decay and importance
}

// Stage is what became of evidence.
type Stage string

// The stages.
const (
	Found     Stage = "found"     // among the ten memories of the answer
	Displaced Stage = "displaced" // a candidate that one of the three rankings of a MissesRow puts among the first ten
	Near      Stage = "near"      // another candidate, at the places 11 to 20
	Low       Stage = "low"       // another candidate, below
	Absent    Stage = "absent"    // no candidate
)

// Stages are all stages.
var Stages = []Stage{Found, Displaced, Near, Low, Absent}

// ranked is a candidate of an explained recall.
type ranked struct {
	recalled
	Score float64            `json:"score"`
	Parts map[string]float64 `json:"score_parts"`
}

// MeasureMisses reports conversations turn by turn to a new server, and asks every question with default settings and
// an explanation, a week after the last turn.
func MeasureMisses(ctx context.Context, o Options) (report Misses, err error) {
	conversations, err := load(o.Paths)
	if err != nil {
		return report, err
	}
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	reported, err := reportTurns(ctx, o, server.Client, conversations)
	if err != nil {
		return report, err
	}
	rows := map[string]*MissesRow{}
	for _, c := range conversations {
		report.Conversations = append(report.Conversations, c.user())
		for _, q := range c.asked() {
			list, err := explained(ctx, server.Client, c, q)
			if err != nil {
				return report, fmt.Errorf("%s: %w", q.ID, err)
			}
			for _, category := range []string{q.Category, ""} {
				if rows[category] == nil {
					rows[category] = &MissesRow{Category: category, Stages: map[Stage]int{}}
				}
				rows[category].add(list, reported, q.Evidence)
			}
		}
	}
	for _, row := range rows {
		report.Rows = append(report.Rows, *row)
	}
	slices.SortFunc(report.Rows, func(a, b MissesRow) int { return -cmp.Compare(a.Category, b.Category) })
	return report, nil
}

// explained returns the candidates of a recall, best first.
func explained(ctx context.Context, client target.Client, c conversation, q question) (list []ranked, err error) {
	var answer struct {
		Memories    []ranked `json:"memories"`
		Explanation struct {
			LeftOut []struct {
				Memory ranked `json:"memory"`
			} `json:"left_out"`
		} `json:"explanation"`
	}
	err = client.Call(ctx, "POST", "/v1/recall", map[string]any{
		"user_id": c.user(), "query": q.Text, "at": c.End.Add(Lags[1].Duration).Format(time.RFC3339Nano),
		"touch": false, "explain": true,
	}, &answer)
	list = answer.Memories
	for _, out := range answer.Explanation.LeftOut {
		list = append(list, out.Memory)
	}
	for _, r := range list {
		if r.Parts == nil && err == nil {
			err = fmt.Errorf("memory %s has no score_parts: is the explanation missing?", r.ID)
		}
	}
	return list, err
}

// places returns the place of each turn, from 0, in the order of a value, highest first.
func places(list []ranked, turns map[string]string, value func(ranked) float64) map[string]int {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(value(b), value(a)) })
	found := map[string]int{}
	for i, r := range list {
		if _, known := found[turns[r.SourceTurnID]]; !known {
			found[turns[r.SourceTurnID]] = i
		}
	}
	return found
}

// add counts the evidence of a question.
func (m *MissesRow) add(list []ranked, turns map[string]string, evidence []string) {
	place := places(list, turns, func(r ranked) float64 { return r.Score })
	without := func(parts ...string) map[string]int {
		return places(list, turns, func(r ranked) float64 {
			value := r.Score
			for _, part := range parts {
				value -= r.Parts[part]
			}
			return value
		})
	}
	rankings := []struct {
		count *int
		place map[string]int
	}{
		{&m.Content, places(list, turns, func(r ranked) float64 { return r.Parts["similarity"] + r.Parts["lexical"] })},
		{&m.Neighbour, without("neighbour")},
		{&m.Freshness, without("decay", "importance")},
	}
	for _, id := range evidence {
		m.Evidence++
		at, isCandidate := place[id]
		stage := Low
		switch {
		case !isCandidate:
			stage = Absent
		case at < inAnswer:
			stage = Found
		case at < 2*inAnswer:
			stage = Near
		}
		if isCandidate && stage != Found {
			for _, r := range rankings {
				if r.place[id] < inAnswer {
					*r.count++
					stage = Displaced
				}
			}
		}
		m.Stages[stage]++
	}
}

// inAnswer is the number of memories in an answer.
const inAnswer = 10

// Print writes the report as a table for people.
func (m Misses) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "evidence of")
	for _, stage := range Stages {
		fmt.Fprintf(w, "\t%s", stage)
	}
	fmt.Fprint(w, "\tof all\tdisplaced: by content\twithout neighbours\twithout freshness\n")
	for _, row := range m.Rows {
		fmt.Fprint(w, cmp.Or(row.Category, "all"))
		for _, stage := range Stages {
			fmt.Fprintf(w, "\t%.3f", float64(row.Stages[stage])/float64(max(1, row.Evidence)))
		}
		fmt.Fprintf(w, "\t%d\t%d\t%d\t%d\n", row.Evidence, row.Content, row.Neighbour, row.Freshness)
	}
	return w.Flush()
}
