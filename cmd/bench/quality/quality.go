// Package quality measures how well recall finds the memories that answer a question:
//
//	conversations -> one memory for each turn, in a new server -> their questions, at three lags
//	              -> rankings by each signal and mode -> R@k, nDCG, MRR
//
// Questions are recalled without touching and without routing. In addition to the
// two modes, the report has their signals: the same candidates, ordered by one part
// of their score.
package quality

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/cmd/bench/target"
)

// Options choose what is measured.
type Options struct {
	Size     target.Size
	Settings []string // KEY=VALUE for the server, such as those of an embedder
	Paths    []string // conversation files, and folders of them
	Ablate   bool     // measure once more without each part of the ranking
	Turns    bool     // also measure conversations that are reported as turns
	Roles    Roles    // of the speakers of reported turns
	Contexts bool     // measure contexts, and no rankings
	Doubts   bool     // measure confidence, and no rankings
	Routes   bool     // compare candidates with and without the routed domains, and measure no rankings
	Oracle   bool     // a reranking model that knows the evidence takes part
	Progress io.Writer

	model bool // a chat model scores
}

// Report is the result of a measurement.
type Report struct {
	Conversations []string `json:"conversations"`
	Embedder      string   `json:"embedder"`
	Chat          string   `json:"chat_model,omitempty"`
	Size          string   `json:"size"`
	Settings      []string `json:"settings,omitempty"`
	Through       *Through `json:"through_turns,omitempty"`
	Results       []Result `json:"results,omitempty"`
	Contexts      []Held   `json:"contexts,omitempty"`
	Missed        []Missed `json:"routed_domains,omitempty"`

	Confidence []TradeOff `json:"confidence,omitempty"`
	Doubts     []Doubt    `json:"doubts,omitempty"` // what Confidence summarises and Fit reads
}

// Result is one row: a ranking at a lag, over the questions of a category or a
// conversation; empty: all.
type Result struct {
	Ranking      string `json:"ranking"`
	Lag          string `json:"lag"`
	Category     string `json:"category,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Without      string `json:"without,omitempty"` // the part that is off
	Mean
}

// Lag is the time from the last turn to the questions.
type Lag struct {
	Name string
	time.Duration
}

// Lags of every report.
var Lags = []Lag{{"1 h", time.Hour}, {"7 d", 7 * 24 * time.Hour}, {"30 d", 30 * 24 * time.Hour}}

// Rankings of every report.
var Rankings = []string{"BM25 alone", "vectors alone", "relevance alone", "additive", "modulated"}

// Parts of the ranking, each with the setting that turns it off.
var Parts = []struct{ Name, Off string }{
	{"words", "HIPPOCAMPUS_RECALL_WITHOUT=words"},
	{"vectors", "HIPPOCAMPUS_RECALL_WITHOUT=vectors"},
	{"neighbours", "HIPPOCAMPUS_RECALL_WITHOUT=neighbours"},
	{"neighbours at distance two", "HIPPOCAMPUS_RECALL_WITHOUT=second_neighbours"},
	{"speaker", "HIPPOCAMPUS_RECALL_WITHOUT=speaker"},
	{"date", "HIPPOCAMPUS_RECALL_WITHOUT=date"},
	{"when", "HIPPOCAMPUS_RECALL_WITHOUT=when"},
	{"question", "HIPPOCAMPUS_RECALL_WITHOUT=question"},
	{"lexical floor", "HIPPOCAMPUS_RECALL_WITHOUT=lexical_floor"},
	{"contrast", "HIPPOCAMPUS_RECALL_WITHOUT=contrast"},
	{"importance", "HIPPOCAMPUS_RECALL_IMPORTANCE=0"},
	{"decay", "HIPPOCAMPUS_RECALL_DECAY=0"},
}

// ablated is the lag of the ablations.
var ablated = Lags[1:2]

// Run measures at every lag and, if Ablate is set, again without each part.
func Run(ctx context.Context, o Options) (Report, error) {
	report := Report{Size: string(o.Size)}
	conversations, err := load(o.Paths)
	if err != nil {
		return report, err
	}
	for _, c := range conversations {
		report.Conversations = append(report.Conversations, c.user())
	}
	if o.Oracle {
		oracle := newOracle(conversations)
		defer oracle.Close()
		o.Settings = append(slices.Clone(o.Settings), "HIPPOCAMPUS_RERANK_BASE_URL="+oracle.URL)
	}
	if o.Contexts {
		report.Contexts, err = contexts(ctx, o, conversations)
		return report, err
	}
	if o.Doubts {
		report.Doubts, err = doubts(ctx, o, conversations)
		report.Confidence = tradeOffs(report.Doubts)
		return report, err
	}
	if o.Routes {
		report.Missed, err = missed(ctx, o, conversations)
		return report, err
	}
	if report.Results, err = run(ctx, o, conversations, Lags); err != nil {
		return report, err
	}
	if o.Turns {
		through, results, err := throughTurns(ctx, o, conversations, Lags)
		if err != nil {
			return report, err
		}
		report.Through, report.Results = &through, append(report.Results, results...)
	}
	if !o.Ablate {
		return report, nil
	}
	for _, part := range Parts {
		fmt.Fprintf(o.Progress, "without %s\n", part.Name)
		less := o
		less.Settings = append(slices.Clone(o.Settings), part.Off)
		results, err := run(ctx, less, conversations, ablated)
		if err != nil {
			return report, err
		}
		for _, r := range results {
			if r.Category+r.Conversation == "" && (r.Ranking == "relevance alone" || r.Ranking == "modulated") {
				r.Without = part.Name
				report.Results = append(report.Results, r)
			}
		}
	}
	return report, nil
}

// run loads a new server and measures at the given lags.
func run(ctx context.Context, o Options, conversations []conversation, lags []Lag) (results []Result, err error) {
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	turns, err := writeMemories(ctx, o, server.Client, conversations)
	if err != nil {
		return nil, err
	}
	for _, lag := range lags {
		fmt.Fprintf(o.Progress, "asking %s after the last turn\n", lag.Name)
		answers, err := ask(ctx, server.Client, conversations, turns, lag.Duration)
		if err != nil {
			return nil, err
		}
		results = append(results, rows(conversations, lag.Name, answers, Rankings)...)
		if answers, err = askByDefaults(ctx, server.Client, conversations, directByDefaults, lag.Duration,
			func(r recalled) string { return turns[r.ID] }); err != nil {
			return nil, err
		}
		results = append(results, rows(conversations, lag.Name, answers, []string{directByDefaults})...)
	}
	return results, nil
}

// writeMemories writes each turn as one memory, and returns the turns by the ids of
// the memories.
func writeMemories(ctx context.Context, o Options, client target.Client, conversations []conversation) (
	turns map[string]string, err error,
) {
	turns = map[string]string{}
	for i, c := range conversations {
		fmt.Fprintf(o.Progress, "loading %s: %d turns\n", c.user(), len(c.Turns))
		memories := c.memories(uint64(i + 1))
		for start := 0; start < len(memories); start += 200 {
			part := memories[start:min(start+200, len(memories))]
			ids, err := client.Write(ctx, part)
			if err != nil {
				return nil, err
			}
			for j, id := range ids {
				turns[id] = c.Turns[start+j].ID
			}
		}
	}
	return turns, client.Settle(ctx)
}

// ask returns the measures of every question, by ranking.
func ask(
	ctx context.Context, client target.Client, conversations []conversation, turns map[string]string, lag time.Duration,
) (map[string][]asked, error) {
	answers := map[string][]asked{}
	for i, c := range conversations {
		questions := c.asked()
		found := make([]map[string]Measures, len(questions))
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(2)
		for j, q := range questions {
			group.Go(func() error {
				rankings, err := rank(ctx, client, c.user(), q.Text, c.End.Add(lag))
				if err != nil {
					return fmt.Errorf("%s: %w", q.ID, err)
				}
				found[j] = map[string]Measures{}
				for name, ids := range rankings {
					for k := range ids {
						ids[k] = turns[ids[k]]
					}
					found[j][name] = measuresOf(ids, q.Evidence)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		for j, q := range questions {
			for name, m := range found[j] {
				answers[name] = append(answers[name], asked{i, q.Category, m})
			}
		}
	}
	return answers, nil
}

type recalled struct {
	ID           string  `json:"id"`
	SourceTurnID string  `json:"source_turn_id"`
	Similarity   float64 `json:"similarity"`
	Lexical      float64 `json:"lexical"`
	Confidence   float64 `json:"confidence"`
}

// recall queries the server and fails if the answer is degraded.
func recall(ctx context.Context, client target.Client, body map[string]any) ([]recalled, error) {
	var answer struct {
		Memories []recalled      `json:"memories"`
		Degraded json.RawMessage `json:"degraded"`
	}
	if err := client.Call(ctx, "POST", "/v1/recall", body, &answer); err != nil {
		return nil, err
	}
	if string(answer.Degraded) != "[]" {
		return nil, fmt.Errorf("the server answers degraded: %s", answer.Degraded)
	}
	return answer.Memories, nil
}

// rank orders a user's memories for a question by every ranking.
func rank(ctx context.Context, client target.Client, user, question string, at time.Time) (map[string][]string, error) {
	ask := func(mode string, relevanceAlone bool) ([]recalled, error) {
		body := map[string]any{
			"user_id": user, "query": question, "limit": 100, "at": at.Format(time.RFC3339Nano),
			"touch": false, "route": false, "mode": mode,
		}
		if relevanceAlone {
			body["weights"] = map[string]float64{"relevance": 1, "decay": 0, "importance": 0}
		}
		return recall(ctx, client, body)
	}
	rankings := map[string][]string{}
	all, err := ask("modulated", true)
	if err != nil {
		return nil, err
	}
	rankings["relevance alone"] = ids(all)
	rankings["vectors alone"] = ids(by(all, func(r recalled) float64 { return r.Similarity }))
	matching := slices.DeleteFunc(all, func(r recalled) bool { return r.Lexical == 0 })
	rankings["BM25 alone"] = ids(by(matching, func(r recalled) float64 { return r.Lexical }))
	for _, mode := range []string{"additive", "modulated"} {
		list, err := ask(mode, false)
		if err != nil {
			return nil, err
		}
		rankings[mode] = ids(list)
	}
	return rankings, nil
}

func by(list []recalled, part func(recalled) float64) []recalled {
	slices.SortStableFunc(list, func(a, b recalled) int {
		return cmp.Or(cmp.Compare(part(b), part(a)), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func ids(list []recalled) []string {
	all := make([]string, len(list))
	for i, r := range list {
		all[i] = r.ID
	}
	return all
}

// rows are the results of one lag.
func rows(conversations []conversation, lag string, answers map[string][]asked, rankings []string) (list []Result) {
	for _, ranking := range rankings {
		all := answers[ranking]
		list = append(list, Result{Ranking: ranking, Lag: lag, Mean: summarise(all)})
		categories := map[string][]asked{}
		places := make([][]asked, len(conversations))
		for _, a := range all {
			categories[a.category] = append(categories[a.category], a)
			places[a.conversation] = append(places[a.conversation], a)
		}
		names := []string{}
		for name := range categories {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			list = append(list, Result{Ranking: ranking, Lag: lag, Category: name, Mean: summarise(categories[name])})
		}
		for i, place := range places {
			list = append(list, Result{
				Ranking: ranking, Lag: lag, Conversation: conversations[i].user(), Mean: summarise(place),
			})
		}
	}
	return list
}
