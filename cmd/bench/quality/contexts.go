package quality

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hippocampus/cmd/bench/target"
)

// Budgets of the measured contexts, in tokens.
var Budgets = []int{500, 1000, 2000, 4000}

// contextLag is the time from the last turn to the requests of contexts.
var contextLag = Lags[1]

// Held is how much of the evidence the contexts of one budget hold, a mean over the
// questions.
type Held struct {
	Written   string  `json:"written"`   // name of a way
	Budget    int     `json:"budget"`    // tokens
	Questions int     `json:"questions"` // how many
	Evidence  float64 `json:"evidence"`  // share of a question's evidence that is in its context, 0..1
	Whole     float64 `json:"whole"`     // share of the questions with all their evidence in the context, 0..1
	Used      float64 `json:"used"`      // tokens
	Memories  float64 `json:"memories"`  // in the context
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
}

// factsByDefaults names contexts of a server that holds nothing but facts.
const factsByDefaults = "stated as facts, by defaults"

// way is one way to bring conversations to a server.
type way struct {
	name   string
	write  func(context.Context, target.Client) error
	needed func(conversation) []question          // the questions that its contexts can answer
	held   func(conversation, assembled) []string // ids of the turns from which a context contains something
}

// contexts writes the conversations to a new server in each way, and requests contexts
// of every budget for the questions.
func contexts(ctx context.Context, o Options, conversations []conversation) (list []Held, err error) {
	var written, reported map[string]string
	for _, w := range []way{
		{
			name: directByDefaults,
			write: func(ctx context.Context, client target.Client) (err error) {
				written, err = writeMemories(ctx, o, client, conversations)
				return err
			},
			needed: conversation.asked,
			held: func(_ conversation, a assembled) []string {
				return turnsOf(a.Memories, func(r recalled) string { return written[r.ID] })
			},
		},
		{
			name: turnsByDefaults,
			write: func(ctx context.Context, client target.Client) (err error) {
				reported, err = reportTurns(ctx, o, client, conversations)
				return err
			},
			needed: conversation.asked,
			held: func(_ conversation, a assembled) []string {
				return turnsOf(a.Memories, func(r recalled) string { return reported[r.SourceTurnID] })
			},
		},
		{
			name: factsByDefaults,
			write: func(ctx context.Context, client target.Client) error {
				return stateFacts(ctx, o, client, conversations)
			},
			needed: conversation.askedOfFacts,
			held: func(c conversation, a assembled) (turns []string) {
				for _, f := range c.Facts {
					if strings.Contains(a.Text, f.Text) {
						turns = append(turns, f.Evidence...)
					}
				}
				return turns
			},
		},
	} {
		one, err := contextsOf(ctx, o, conversations, w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		list = append(list, one...)
	}
	return list, nil
}

// contextsOf starts a server, fills it, and measures its contexts one request after
// the other.
func contextsOf(ctx context.Context, o Options, conversations []conversation, w way) (list []Held, err error) {
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	if err := w.write(ctx, server.Client); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Progress, "requesting contexts, %s\n", w.name)
	made := make([][]assembled, len(Budgets))
	for _, c := range conversations {
		for i, q := range w.needed(c) {
			for j := range Budgets {
				b := (i + j) % len(Budgets) // the first request of a question embeds it
				one, err := assemble(ctx, server.Client, c, q, Budgets[b])
				if err != nil {
					return nil, fmt.Errorf("%s: %w", q.ID, err)
				}
				one.evidence = share(q.Evidence, w.held(c, one))
				made[b] = append(made[b], one)
			}
		}
	}
	for b, budget := range Budgets {
		list = append(list, heldBy(made[b], w.name, budget))
	}
	return list, nil
}

// stateFacts states the facts of every conversation as timeline facts.
func stateFacts(ctx context.Context, o Options, client target.Client, conversations []conversation) error {
	for _, c := range conversations {
		fmt.Fprintf(o.Progress, "stating %s: %d facts\n", c.user(), len(c.Facts))
		for _, f := range c.Facts {
			err := client.Call(ctx, "PUT", "/v1/facts", map[string]any{
				"user_id": c.user(), "type": "statement", "key": f.ID, "value": f.Text,
				"valid_from": f.At.Format(time.RFC3339Nano),
			}, nil)
			if err != nil {
				return err
			}
		}
	}
	return client.Settle(ctx)
}

// assembled is a context.
type assembled struct {
	Text     string          `json:"text"`
	Memories []recalled      `json:"memories"` // that it holds
	Degraded json.RawMessage `json:"degraded"`
	Size     struct {
		Used int `json:"used"`
	} `json:"size"`

	evidence float64 // share that it holds, 0..1
	took     time.Duration
}

// assemble requests a context for a question at contextLag, with no option but the budget.
func assemble(ctx context.Context, client target.Client, c conversation, q question, budget int) (
	made assembled, err error,
) {
	begin := time.Now()
	err = client.Call(ctx, "POST", "/v1/context", map[string]any{
		"user_id": c.user(), "query": q.Text, "max_tokens": budget,
		"at": c.End.Add(contextLag.Duration).Format(time.RFC3339Nano), "touch": false,
	}, &made)
	made.took = time.Since(begin)
	if err == nil && string(made.Degraded) != "[]" {
		err = fmt.Errorf("the server answers degraded: %s", made.Degraded)
	}
	return made, err
}

// share of the evidence that is held, 0..1.
func share(evidence, held []string) float64 {
	found := 0
	for _, id := range evidence {
		if slices.Contains(held, id) {
			found++
		}
	}
	return float64(found) / float64(len(evidence))
}

// heldBy returns the mean over one or more contexts.
func heldBy(list []assembled, written string, budget int) Held {
	h := Held{Written: written, Budget: budget, Questions: len(list)}
	n := float64(len(list))
	took := make([]time.Duration, len(list))
	for i, a := range list {
		h.Evidence += a.evidence / n
		if a.evidence == 1 {
			h.Whole += 1 / n
		}
		h.Used += float64(a.Size.Used) / n
		h.Memories += float64(len(a.Memories)) / n
		took[i] = a.took
	}
	slices.Sort(took)
	h.P50, h.P95 = milliseconds(took[len(took)/2]), milliseconds(took[len(took)*95/100])
	return h
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
