// Package chinese measures recall in Chinese with default settings, through turns:
//
//	statements of a user's life among small talk -> a turn each -> questions a day later
//	                                             -> rank of the statement's turn, confidence
//
// Half of the questions share no pair of characters with their statement, so that words alone do not find it. Each user
// is also asked questions about the other users, to which the answer should be that nothing fits.
package chinese

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/cmd/bench/changes"
	"hippocampus/cmd/bench/quality"
	"hippocampus/cmd/bench/target"
)

// Options of a measurement.
type Options struct {
	Size       target.Size
	Statements []Statement
	Others     int      // statements of small talk that each user also makes, 0..400
	Settings   []string // of the server, KEY=VALUE
	Progress   io.Writer
}

// Report has the results of each kind of question.
type Report struct {
	Others   int        `json:"others"`
	Near     Ranks      `json:"near"`
	Far      Ranks      `json:"far"`
	All      Ranks      `json:"all"`
	Bounds   []TradeOff `json:"bounds"`
	Failures []Failure  `json:"failures,omitempty"` // questions whose statement is not among the first five
	Answers  []Answer   `json:"answers"`
}

// Ranks summarise at which rank the statement that answers a question is returned.
type Ranks struct {
	Questions int     `json:"questions"`
	R1        float64 `json:"r1"`
	R5        float64 `json:"r5"`
	MRR       float64 `json:"mrr"`
}

// TradeOff is the effect of a minimum confidence, in shares.
type TradeOff struct {
	Bound   float64 `json:"bound"`
	Refused float64 `json:"refused"` // of foreign questions, for which no memory is left
	Near    float64 `json:"near"`    // of the statements among the first ten, which are left
	Far     float64 `json:"far"`
}

// Failure is a question whose statement is not among the first five.
type Failure struct {
	Question  string `json:"question"`
	Statement string `json:"statement"`
	Rank      int    `json:"rank"` // 0: not among the first ten
}

// Kind says how a question relates to the user who is asked about.
type Kind string

// The kinds of questions.
const (
	Near    Kind = "near"
	Far     Kind = "far"
	Foreign Kind = "foreign" // about the life of another user
)

// Answer has the values from which the confidence of an answer was computed.
type Answer struct {
	User     string          `json:"user"`
	Kind     Kind            `json:"kind"`
	Question string          `json:"question"`
	Best     float64         `json:"best"`  // highest confidence
	Found    float64         `json:"found"` // confidence of the first memory that has the statement; 0 without one
	Fit      quality.Signals `json:"fit"`
}

// Bounds are the confidences of the trade-off. By default a context has memories with a confidence of at least 0.15.
var Bounds = []float64{0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4}

// begin is when each user makes the first statement; a turn follows each hour.
var begin = time.Date(2031, 1, 6, 9, 0, 0, 0, time.UTC)

// Run starts a server, reports the lives of all users and asks the questions.
func Run(ctx context.Context, o Options) (r Report, err error) {
	r.Others = o.Others
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return r, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	byUser := map[string][]Statement{}
	var names []string
	for _, s := range o.Statements {
		if byUser[s.User] == nil {
			names = append(names, s.User)
		}
		byUser[s.User] = append(byUser[s.User], s)
	}
	for i, name := range names {
		fmt.Fprintf(o.Progress, "reporting the life of %s\n", name)
		u := user{Client: server.Client, id: name, turns: map[string]string{}}
		if err := u.live(ctx, byUser[name], changes.Others("zh", o.Others, i)); err != nil {
			return r, err
		}
		if err := u.Settle(ctx); err != nil {
			return r, err
		}
		if err := r.ask(ctx, u, o.Statements); err != nil {
			return r, err
		}
	}
	r.finish()
	return r, nil
}

type user struct {
	target.Client
	id    string
	turns map[string]string // id of the turn by statement
	end   time.Time
}

// live reports the statements, with the same number of others before each.
func (u *user) live(ctx context.Context, statements []Statement, others []string) error {
	u.end = begin
	for i, s := range statements {
		between := others[i*len(others)/len(statements) : (i+1)*len(others)/len(statements)]
		for _, other := range between {
			if _, err := u.state(ctx, other); err != nil {
				return err
			}
		}
		id, err := u.state(ctx, s.Text)
		if err != nil {
			return err
		}
		u.turns[s.Text] = id
	}
	return nil
}

// state reports a statement as a turn with a short answer, in a conversation of its day.
func (u *user) state(ctx context.Context, statement string) (id string, err error) {
	u.end = u.end.Add(time.Hour)
	var turn struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	err = u.Call(ctx, "POST", "/v1/turns", map[string]any{
		"user_id": u.id, "conversation_id": u.id + u.end.Format("-2006-01-02"), "at": u.end.Format(time.RFC3339),
		"wait": true,
		"messages": []map[string]string{
			{"role": "user", "content": statement}, {"role": "assistant", "content": "好的，记下了。"},
		},
	}, &turn)
	if err == nil && turn.Status != "processed" {
		err = fmt.Errorf("the turn %s is %s", turn.ID, turn.Status)
	}
	return turn.ID, err
}

// answer is the answer of a recall.
type answer struct {
	Memories []remembered    `json:"memories"`
	Fit      quality.Signals `json:"fit"`
}

type remembered struct {
	SourceTurnID string  `json:"source_turn_id"`
	Confidence   float64 `json:"confidence"`
}

func (u *user) recall(ctx context.Context, query string) (a answer, err error) {
	err = u.Call(ctx, "POST", "/v1/recall", map[string]any{
		"user_id": u.id, "query": query, "at": u.end.AddDate(0, 0, 1).Format(time.RFC3339), "touch": false,
	}, &a)
	return a, err
}

// asking is how many questions are asked at a time.
const asking = 2

// ask asks a user both questions about each statement of the user's own life, and the near questions about the other
// users' lives.
func (r *Report) ask(ctx context.Context, u user, statements []Statement) error {
	near, far := make([]answer, len(statements)), make([]answer, len(statements))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(asking)
	for i, s := range statements {
		group.Go(func() (err error) {
			if near[i], err = u.recall(ctx, s.Near); err != nil || u.turns[s.Text] == "" {
				return err
			}
			far[i], err = u.recall(ctx, s.Far)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, s := range statements {
		turn := u.turns[s.Text]
		if turn == "" {
			r.count(u, Foreign, s, near[i])
			continue
		}
		r.count(u, Near, s, near[i])
		r.count(u, Far, s, far[i])
	}
	return nil
}
