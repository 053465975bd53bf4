// Package times measures whether questions that name a time find the one statement of that time, among statements of
// the same activities on other days:
//
//	turns of a year, and questions between them -> is the statement of the asked time first, or among the first three?
//
// The statements are turns with their own instants, and the questions are recalls with theirs, in the order of time, in
// two languages and three time zones, each with a user of its own.
package times

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/cmd/bench/target"
)

// Options of a measurement.
type Options struct {
	Size     target.Size
	Zones    []string // IANA names
	Progress io.Writer
}

// Zones lists the zones that are measured by default.
var Zones = []string{"UTC", "Asia/Shanghai", "America/Los_Angeles"}

// Report has the results of each language, zone and half.
type Report struct {
	Results  []*Result `json:"results"`
	Failures []Failure `json:"failures,omitempty"`
}

// Result counts the answers to questions.
type Result struct {
	Language  string `json:"language"`
	Zone      string `json:"zone"`
	Half      string `json:"half"`
	Questions int    `json:"questions"`
	First     int    `json:"first"`       // the statement is the first memory
	Three     int    `json:"first_three"` // or the second or third
}

// Failure is a question whose statement is not first.
type Failure struct {
	Question
	Zone  string   `json:"zone"`
	Place int      `json:"place"` // of the statement, from 1; 0: it is not returned
	First string   `json:"first"` // the memory that is first
	When  []string `json:"when,omitempty"`
}

// Run starts a server, and asks the questions.
func Run(ctx context.Context, o Options) (r Report, err error) {
	server, err := target.Start(ctx, target.Options{Size: o.Size})
	if err != nil {
		return r, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	users := make([]user, 0, len(languages)*len(o.Zones))
	for _, language := range languages {
		for _, name := range o.Zones {
			zone, err := time.LoadLocation(name)
			if err != nil {
				return r, fmt.Errorf("zone %s: %w", name, err)
			}
			users = append(users, user{Client: server.Client, language: language, zone: zone})
		}
	}
	for i := range users {
		u := &users[i]
		group.Go(func() error {
			fmt.Fprintf(o.Progress, "a year of %s\n", u.id())
			return u.live(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return r, err
	}
	for i := range users {
		r.add(&users[i])
	}
	return r, nil
}

// add counts the answers that a user got.
func (r *Report) add(u *user) {
	for _, half := range halves {
		result := &Result{Language: u.language, Zone: u.zone.String(), Half: half}
		for _, a := range u.answers {
			if a.Half != half {
				continue
			}
			result.Questions++
			if a.Place == 1 {
				result.First++
			} else {
				r.Failures = append(r.Failures, a)
			}
			if a.Place >= 1 && a.Place <= 3 {
				result.Three++
			}
		}
		r.Results = append(r.Results, result)
	}
}

// user makes the statements of a year, and asks the questions.
type user struct {
	target.Client
	language string
	zone     *time.Location
	answers  []Failure         // of each question, also those without a failure
	turns    map[string]string // ids of turns by the ids of their statements
}

func (u *user) id() string { return u.language + "-" + u.zone.String() }

// live reports the statements and asks the questions in the order of their times.
func (u *user) live(ctx context.Context) error {
	statements, err := statementsOf(u.language, u.zone)
	if err != nil {
		return err
	}
	questions, err := questionsOf(u.language, u.zone)
	if err != nil {
		return err
	}
	slices.SortFunc(statements, func(a, b statement) int { return a.at.Compare(b.at) })
	slices.SortStableFunc(questions, func(a, b Question) int { return a.At.Compare(b.At) })
	u.turns = map[string]string{}
	for _, q := range questions {
		for len(statements) > 0 && statements[0].at.Before(q.At) {
			if err := u.state(ctx, statements[0]); err != nil {
				return fmt.Errorf("%s: %w", statements[0].id, err)
			}
			statements = statements[1:]
		}
		if err := u.ask(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q.Text, err)
		}
	}
	return nil
}

// state reports a statement as a turn with a short answer, in a conversation of its day.
func (u *user) state(ctx context.Context, s statement) error {
	var turn struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	err := u.Call(ctx, "POST", "/v1/turns", map[string]any{
		"user_id": u.id(), "conversation_id": u.id() + s.at.Format("-2006-01-02"), "at": s.at.Format(time.RFC3339),
		"wait": true, "messages": []map[string]string{
			{"role": "user", "content": s.text}, {"role": "assistant", "content": noted[u.language]},
		},
	}, &turn)
	if err == nil && turn.Status != "processed" {
		err = fmt.Errorf("the turn %s is %s", turn.ID, turn.Status)
	}
	u.turns[s.id] = turn.ID
	return err
}

// noted is the assistant's answer, by language.
var noted = map[string]string{"en": "Noted.", "zh": "好的，记下了。"}

// ask asks a question, and notes the place of its answer.
func (u *user) ask(ctx context.Context, q Question) error {
	var found struct {
		Memories []struct {
			SourceTurnID string `json:"source_turn_id"`
			Content      string `json:"content"`
		} `json:"memories"`
		When []struct {
			From  string `json:"from"`
			Until string `json:"until"`
			Words string `json:"words"`
		} `json:"when"`
	}
	err := u.Call(ctx, "POST", "/v1/recall", map[string]any{
		"user_id": u.id(), "query": q.Text, "at": q.At.Format(time.RFC3339), "touch": false,
	}, &found)
	a := Failure{Question: q, Zone: u.zone.String()}
	for i, m := range found.Memories {
		if a.Place == 0 && m.SourceTurnID == u.turns[q.Answer] && m.Content != noted[u.language] {
			a.Place = i + 1
		}
	}
	if len(found.Memories) > 0 {
		a.First = found.Memories[0].Content
	}
	for _, w := range found.When {
		a.When = append(a.When, fmt.Sprintf("%s: %s to %s", w.Words, w.From, w.Until))
	}
	u.answers = append(u.answers, a)
	return err
}
