package quality

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"text/tabwriter"
	"time"

	"hippocampus/cmd/bench/recording"
	"hippocampus/cmd/bench/target"
	"hippocampus/internal/text"
)

// Cost is the use of a chat model by conversations that are reported as turns.
type Cost struct {
	Conversations []string     `json:"conversations"`
	Chat          string       `json:"chat_model"`
	Turns         int          `json:"turns"`
	Sessions      int          `json:"sessions"`
	Kept          int          `json:"kept"` // candidates that became memories
	Prompts       []PromptCost `json:"prompts"`
}

// PromptCost is the use of one prompt. Tokens are those of o200k_base in the contents of
// the messages.
type PromptCost struct {
	Prompt      string  `json:"prompt"`
	Calls       int     `json:"calls"`
	PerThousand float64 `json:"calls_per_1000_turns"`
	In          Spread  `json:"tokens_in"`
	Repeated    Spread  `json:"tokens_repeated"` // at the beginning, equal to those of the prompt's previous call
	Out         Spread  `json:"tokens_out"`
}

// Spread is a distribution.
type Spread struct {
	Median, P95, Sum int
}

// MeasureCost reports every conversation to a new server as a backend does, and asks for a
// context before each turn. After each session it ends the conversation and asks for a
// reflection, which happens if it is due. At the end it has the server compress. It counts
// the tokens of all prompts and answers.
func MeasureCost(ctx context.Context, o Options, m ChatModel) (cost Cost, err error) {
	cost.Chat = m.Name
	conversations, err := load(o.Paths)
	if err != nil {
		return cost, err
	}
	recorder, err := recording.NewRecorder(m.URL)
	if err != nil {
		return cost, err
	}
	defer recorder.Close()
	settings := append(m.settings(recorder.URL()), "HIPPOCAMPUS_RECALL_TIMEOUT=200s")
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: append(settings, o.Settings...)})
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	for _, c := range conversations {
		fmt.Fprintf(o.Progress, "reporting %s: %d turns\n", c.user(), len(c.Turns))
		sessions, err := c.live(ctx, server.Client, o.Roles)
		if err != nil {
			return cost, fmt.Errorf("%s: %w", c.user(), err)
		}
		cost.Conversations = append(cost.Conversations, c.user())
		cost.Turns += len(c.Turns)
		cost.Sessions += sessions
	}
	var stats struct {
		Candidates map[string]int `json:"candidates"`
	}
	if err := server.Call(ctx, "GET", "/v1/stats", nil, &stats); err != nil {
		return cost, err
	}
	cost.Kept = stats.Candidates["kept"]
	fmt.Fprintln(o.Progress, "counting tokens")
	cost.count(recorder.Recording())
	return cost, nil
}

// reflectionImportance is the default of reflection.importance.
const reflectionImportance = 4

// live reports the turns of a conversation as a backend does, and returns the number of
// its sessions.
func (c conversation) live(ctx context.Context, client target.Client, roles Roles) (sessions int, err error) {
	for i, t := range c.Turns {
		var ignored any
		err := client.Call(ctx, "POST", "/v1/context", map[string]any{
			"user_id": c.user(), "query": t.Text, "conversation_id": t.Session, "at": t.At.Format(time.RFC3339Nano),
			"max_tokens": 2000,
		}, &ignored)
		if err != nil {
			return sessions, err
		}
		if _, _, err := report(ctx, client, c, t, roles); err != nil {
			return sessions, err
		}
		if i+1 < len(c.Turns) && c.Turns[i+1].Session == t.Session {
			continue
		}
		sessions++
		if err := c.endSession(ctx, client, t.Session); err != nil {
			return sessions, err
		}
	}
	return sessions, client.Call(ctx, "POST", "/v1/compress", map[string]any{"user_id": c.user()}, nil)
}

// endSession has the server consolidate a session, and reflect if it is due.
func (c conversation) endSession(ctx context.Context, client target.Client, session string) error {
	body := map[string]any{"user_id": c.user(), "wait": true}
	if err := client.Call(ctx, "POST", "/v1/conversations/"+url.PathEscape(session)+"/end", body, nil); err != nil {
		return err
	}
	return client.Call(ctx, "POST", "/v1/reflect", map[string]any{
		"user_id": c.user(), "threshold": reflectionImportance, "cooldown_seconds": 0,
	}, nil)
}

// count sums up the calls of a recording by prompt.
func (cost *Cost) count(r recording.Recording) {
	calls := map[string][]recording.Call{}
	for _, call := range r.Calls {
		calls[call.Prompt] = append(calls[call.Prompt], call)
	}
	for name, list := range calls {
		var in, repeated, out []int
		before := ""
		for _, call := range list {
			content := r.Systems[call.System]
			for _, message := range call.Messages {
				content += message.Content
			}
			in = append(in, text.Tokens(text.O200k, content))
			repeated = append(repeated, text.Tokens(text.O200k, commonBeginning(before, content)))
			out = append(out, text.Tokens(text.O200k, call.Answer))
			before = content
		}
		cost.Prompts = append(cost.Prompts, PromptCost{
			Prompt: name, Calls: len(list), PerThousand: 1000 * float64(len(list)) / float64(cost.Turns),
			In: spread(in), Repeated: spread(repeated), Out: spread(out),
		})
	}
	slices.SortFunc(cost.Prompts, func(a, b PromptCost) int { return b.In.Sum - a.In.Sum })
}

// commonBeginning returns the longest common prefix of two texts.
func commonBeginning(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return b[:n]
}

// spread summarises one or more numbers.
func spread(numbers []int) (s Spread) {
	slices.Sort(numbers)
	for _, n := range numbers {
		s.Sum += n
	}
	s.Median, s.P95 = numbers[len(numbers)/2], numbers[len(numbers)*95/100]
	return s
}

// Print writes the cost as a table for people.
func (cost Cost) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d turns in %d sessions of %d users, %d facts kept, model %s\n\n",
		cost.Turns, cost.Sessions, len(cost.Conversations), cost.Kept, cost.Chat)
	fmt.Fprintln(w, "prompt\tcalls a 1,000 turns\ttokens in, median\tp95\trepeated, median\ttokens out, median\tp95\t"+
		"in a 1,000 turns\trepeated\tout")
	var in, repeated, answered int
	perThousand := func(n int) int { return n * 1000 / cost.Turns }
	for _, p := range cost.Prompts {
		fmt.Fprintf(w, "%s\t%.0f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", p.Prompt, p.PerThousand,
			p.In.Median, p.In.P95, p.Repeated.Median, p.Out.Median, p.Out.P95,
			perThousand(p.In.Sum), perThousand(p.Repeated.Sum), perThousand(p.Out.Sum))
		in += p.In.Sum
		repeated += p.Repeated.Sum
		answered += p.Out.Sum
	}
	fmt.Fprintf(w, "all\t\t\t\t\t\t\t%d\t%d\t%d\n", perThousand(in), perThousand(repeated), perThousand(answered))
	return w.Flush()
}
