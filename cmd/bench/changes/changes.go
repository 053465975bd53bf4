// Package changes measures whether a user's latest statement is found, and a former one is not, after the user
// changed their mind:
//
//	older statement -> n other statements -> newer statement, weeks later -> question, a day later
//	                -> is the newer one first, and is the older one returned?
//
// Each statement is sent to a running server as a turn of a conversation. Two servers are measured: one without a
// model, and one with a scripted model.
package changes

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/cmd/bench/target"
	"hippocampus/internal/llm/llmtest"
)

// Options of a measurement.
type Options struct {
	Size     target.Size
	Others   []int // numbers of other statements, 0..400, each measured with users of its own
	Each     int   // among 100 others or more, only every Each-th pair is measured; 1: all
	Model    bool  // a scripted model scores, judges and routes
	Pairs    func(language string) []Pair
	Progress io.Writer
}

// Report has the results of each language and number of others.
type Report struct {
	Each    int      `json:"each"` // as in Options
	Model   bool     `json:"model"`
	Results []Result `json:"results"`
}

// Result counts what was returned for the questions of a language.
type Result struct {
	Language string            `json:"language"`
	Others   int               `json:"others"` // statements of each user in addition to the pair
	All      Count             `json:"all"`
	Kinds    map[string]*Count `json:"kinds"`
	Failures []Failure         `json:"failures,omitempty"`
}

// Count counts pairs.
type Count struct {
	Pairs  int `json:"pairs"`
	First  int `json:"current_first"`   // the first memory is of the newer turn
	Former int `json:"former_returned"` // any memory is of the older turn's statement
}

// Failure is a pair whose newer statement is not first, or whose older one is returned.
type Failure struct {
	Pair
	Verdicts []Verdict `json:"verdicts"` // of the newer turn
	Returned []string  `json:"returned"` // the first memory, and the memories of the older turn
	outcome
}

// Verdict is a candidate of a turn with its verdict.
type Verdict struct {
	Content string `json:"content"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

type outcome struct {
	Place  int  `json:"current_place"` // of the first memory of the newer turn, from 1; 0: it is not returned
	First  bool `json:"current_first"`
	Former bool `json:"former_returned"`
}

// Run starts a server, and measures the pairs on it.
func Run(ctx context.Context, o Options) (r Report, err error) {
	r.Model, r.Each = o.Model, o.Each
	var settings []string
	if o.Model {
		models, err := llmtest.Start("127.0.0.1:0")
		if err != nil {
			return r, err
		}
		defer models.Close()
		script(models)
		settings = []string{
			"DEEPSEEK_API_KEY=bench", "DEEPSEEK_API_BASE=" + models.URL(), "HIPPOCAMPUS_REFLECTION_IMPORTANCE=1000",
		}
	}
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: settings})
	if err != nil {
		return r, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	for _, n := range o.Others {
		for _, language := range Languages {
			if len(o.Pairs(language)) == 0 {
				continue
			}
			fmt.Fprintf(o.Progress, "reporting %s among %d other statements\n", language, n)
			result, err := o.measure(ctx, server.Client, language, n)
			if err != nil {
				return r, err
			}
			r.Results = append(r.Results, result)
		}
	}
	return r, nil
}

// many is the number of other statements from which Options.Each applies.
const many = 100

// measure measures the pairs of a language among n other statements.
func (o Options) measure(ctx context.Context, client target.Client, language string, n int) (Result, error) {
	r := Result{Language: language, Others: n, Kinds: map[string]*Count{}}
	var measured []Pair
	for i, p := range o.Pairs(language) {
		if n < many || i%o.Each == 0 {
			measured = append(measured, p)
		}
	}
	failures := make([]Failure, len(measured))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(users)
	for i, p := range measured {
		group.Go(func() (err error) {
			u := user{Client: client, language: language, id: fmt.Sprintf("%s-%d-%d", language, n, i)}
			if failures[i], err = u.live(ctx, p, Others(language, n, i), days(i)); err != nil {
				return fmt.Errorf("%s: %w", p.Newer, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return r, err
	}
	for _, f := range failures {
		r.count(f)
	}
	return r, nil
}

// users is how many users report their statements at the same time.
const users = 4

// days returns the number of days between the two statements of the i-th pair: three weeks to half a year.
func days(i int) int { return 21 + i*37%160 }

func (r *Result) count(f Failure) {
	if r.Kinds[f.Kind] == nil {
		r.Kinds[f.Kind] = &Count{}
	}
	for _, c := range []*Count{&r.All, r.Kinds[f.Kind]} {
		c.Pairs++
		if f.First {
			c.First++
		}
		if f.Former {
			c.Former++
		}
	}
	if !f.First || f.Former {
		r.Failures = append(r.Failures, f)
	}
}

type user struct {
	target.Client
	id, language string
}

// begin is when each user states the older statement.
var begin = time.Date(2031, 1, 6, 9, 0, 0, 0, time.UTC)

// live reports the statements of a user, and asks.
func (u user) live(ctx context.Context, p Pair, others []string, days int) (f Failure, err error) {
	f.Pair = p
	older, _, err := u.state(ctx, p.Older, begin)
	if err != nil {
		return f, err
	}
	end := begin.AddDate(0, 0, days)
	step := end.Sub(begin) / time.Duration(len(others)+1)
	for i, other := range others {
		if _, _, err := u.state(ctx, other, begin.Add(step*time.Duration(i+1))); err != nil {
			return f, err
		}
	}
	newer, verdicts, err := u.state(ctx, p.Newer, end)
	if err != nil {
		return f, err
	}
	f.Verdicts = verdicts
	var found struct {
		Memories []struct {
			SourceTurnID string `json:"source_turn_id"`
			Content      string `json:"content"`
			Type         string `json:"type"`
		} `json:"memories"`
	}
	err = u.Call(ctx, "POST", "/v1/recall", map[string]any{
		"user_id": u.id, "query": p.Question, "at": end.AddDate(0, 0, 1).Format(time.RFC3339),
	}, &found)
	for i, m := range found.Memories {
		stated := m.Content != noted[u.language]
		if f.Place == 0 && m.SourceTurnID == newer && stated {
			f.Place = i + 1
		}
		f.First = f.Place == 1
		f.Former = f.Former || m.SourceTurnID == older && stated
		if i == 0 || m.SourceTurnID == older && stated {
			f.Returned = append(f.Returned, fmt.Sprintf("%d. %s: %s", i+1, m.Type, m.Content))
		}
	}
	return f, err
}

// state reports a statement as a turn with a short answer, in a conversation of its day.
func (u user) state(ctx context.Context, statement string, at time.Time) (id string, verdicts []Verdict, err error) {
	var turn struct {
		ID         string    `json:"id"`
		Status     string    `json:"status"`
		Candidates []Verdict `json:"candidates"`
	}
	err = u.Call(ctx, "POST", "/v1/turns", map[string]any{
		"user_id": u.id, "conversation_id": u.id + at.Format("-2006-01-02"), "at": at.Format(time.RFC3339), "wait": true,
		"messages": []map[string]string{
			{"role": "user", "content": statement}, {"role": "assistant", "content": noted[u.language]},
		},
	}, &turn)
	if err == nil && turn.Status != "processed" {
		err = fmt.Errorf("the turn %s is %s", turn.ID, turn.Status)
	}
	return turn.ID, turn.Candidates, err
}

// noted is the assistant's answer, by language. It states nothing, so that a memory of it is not counted.
var noted = map[string]string{"en": "Noted.", "zh": "好的，记下了。", "de": "Notiert."}
