package quality

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hippocampus/cmd/bench/target"
)

// Budgets of the measured contexts, in tokens.
var Budgets = []int{500, 1000, 2000, 4000}

// contextLag is the time from the last turn to the requests of contexts.
var contextLag = Lags[1]

// Held is what the contexts of one budget hold of the evidence, a mean over the
// questions.
type Held struct {
	Written   string  `json:"written"`   // directByDefaults or turnsByDefaults
	Budget    int     `json:"budget"`    // tokens
	Questions int     `json:"questions"` // how many
	Evidence  float64 `json:"evidence"`  // share of a question's evidence that is in its context, 0..1
	Whole     float64 `json:"whole"`     // share of the questions with all their evidence in the context, 0..1
	Used      float64 `json:"used"`      // tokens
	Memories  float64 `json:"memories"`  // in the context
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
}

// contexts writes the conversations to two new servers, as memories and as turns, and
// requests contexts of every budget for the questions.
func contexts(ctx context.Context, o Options, conversations []conversation) ([]Held, error) {
	direct, err := contextsOf(ctx, o, conversations, directByDefaults,
		func(client target.Client) (func(recalled) string, error) {
			turns, err := writeMemories(ctx, o, client, conversations)
			return func(r recalled) string { return turns[r.ID] }, err
		})
	if err != nil {
		return nil, err
	}
	through, err := contextsOf(ctx, o, conversations, turnsByDefaults,
		func(client target.Client) (func(recalled) string, error) {
			reported, err := reportTurns(ctx, o, client, conversations)
			return func(r recalled) string { return reported[r.SourceTurnID] }, err
		})
	return append(direct, through...), err
}

// contextsOf starts a server, has it filled, and measures its contexts one request
// after the other. fill returns the turn that a memory is from.
func contextsOf(
	ctx context.Context, o Options, conversations []conversation, written string,
	fill func(target.Client) (turnOf func(recalled) string, err error),
) (list []Held, err error) {
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	turnOf, err := fill(server.Client)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Progress, "requesting contexts, %s\n", written)
	made := make([][]assembled, len(Budgets))
	for _, c := range conversations {
		for i, q := range c.asked() {
			for j := range Budgets {
				b := (i + j) % len(Budgets) // the first request of a question embeds it
				one, err := assemble(ctx, server.Client, c, q, Budgets[b], turnOf)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", q.ID, err)
				}
				made[b] = append(made[b], one)
			}
		}
	}
	for b, budget := range Budgets {
		list = append(list, heldBy(made[b], written, budget))
	}
	return list, nil
}

// assembled is one context, compared with the evidence of its question.
type assembled struct {
	evidence       float64 // share that it holds, 0..1
	used, memories int
	took           time.Duration
}

// assemble requests a context by its budget alone, for a question at contextLag.
func assemble(
	ctx context.Context, client target.Client, c conversation, q question, budget int, turnOf func(recalled) string,
) (assembled, error) {
	var answer struct {
		Memories []recalled      `json:"memories"` // those in the context
		Degraded json.RawMessage `json:"degraded"`
		Size     struct {
			Used int `json:"used"`
		} `json:"size"`
	}
	begin := time.Now()
	err := client.Call(ctx, "POST", "/v1/context", map[string]any{
		"user_id": c.user(), "query": q.Text, "max_tokens": budget,
		"at": c.End.Add(contextLag.Duration).Format(time.RFC3339Nano), "touch": false,
	}, &answer)
	took := time.Since(begin)
	if err != nil {
		return assembled{}, err
	}
	if string(answer.Degraded) != "[]" {
		return assembled{}, fmt.Errorf("the server answers degraded: %s", answer.Degraded)
	}
	held := turnsOf(answer.Memories, turnOf)
	found := 0
	for _, id := range q.Evidence {
		if slices.Contains(held, id) {
			found++
		}
	}
	return assembled{
		evidence: float64(found) / float64(len(q.Evidence)), used: answer.Size.Used, memories: len(answer.Memories),
		took: took,
	}, nil
}

// heldBy is the mean over contexts, at least one.
func heldBy(list []assembled, written string, budget int) Held {
	h := Held{Written: written, Budget: budget, Questions: len(list)}
	n := float64(len(list))
	took := make([]time.Duration, len(list))
	for i, a := range list {
		h.Evidence += a.evidence / n
		if a.evidence == 1 {
			h.Whole += 1 / n
		}
		h.Used += float64(a.used) / n
		h.Memories += float64(a.memories) / n
		took[i] = a.took
	}
	slices.Sort(took)
	h.P50, h.P95 = milliseconds(took[len(took)/2]), milliseconds(took[len(took)*95/100])
	return h
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
