package quality

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"hippocampus/cmd/bench/target"
)

// routeLag is the time from the last turn to the questions about routes.
var routeLag = Lags[1]

// Missed compares the candidates of a search of all memories with the candidates of a search of the route's domains
// alone: the 50 most similar memories and the 50 best by words of each.
type Missed struct {
	Written   string `json:"written"`
	Questions int    `json:"questions"`
	Routed    int    `json:"routed"`   // questions whose route names a domain
	Evidence  int    `json:"evidence"` // turns that all questions need
	Found     int    `json:"found"`    // of them, among the candidates of all memories
	Added     int    `json:"added"`    // further evidence, only among the candidates of the routed domains
	Gaining   int    `json:"gaining"`  // questions with such evidence
	Hidden    int    `json:"hidden"`   // found for routed questions, but not among the candidates of the routed domains
}

// missed reports the conversations in both ways, and asks each question twice: with default settings, and in the
// domains of its route.
func missed(ctx context.Context, o Options, conversations []conversation) (list []Missed, err error) {
	for _, written := range []string{directByDefaults, turnsByDefaults} {
		m, err := missedBy(ctx, o, conversations, written)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", written, err)
		}
		list = append(list, m)
	}
	return list, nil
}

func missedBy(ctx context.Context, o Options, conversations []conversation, written string) (m Missed, err error) {
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	var turns map[string]string
	turnOf := func(r recalled) string { return turns[r.ID] }
	if written == turnsByDefaults {
		turns, err = reportTurns(ctx, o, server.Client, conversations)
		turnOf = func(r recalled) string { return turns[r.SourceTurnID] }
	} else {
		turns, err = writeMemories(ctx, o, server.Client, conversations)
	}
	if err != nil {
		return m, err
	}
	m.Written = written
	fmt.Fprintf(o.Progress, "comparing candidates, %s\n", written)
	for _, c := range conversations {
		for _, q := range c.asked() {
			all, domains, err := candidatesOf(ctx, server.Client, c, q, nil)
			if err != nil {
				return m, fmt.Errorf("%s: %w", q.ID, err)
			}
			var routed []recalled
			if len(domains) > 0 {
				if routed, _, err = candidatesOf(ctx, server.Client, c, q, domains); err != nil {
					return m, fmt.Errorf("%s: %w", q.ID, err)
				}
			}
			m.add(q.Evidence, turnsOf(all, turnOf), turnsOf(routed, turnOf), len(domains) > 0)
		}
	}
	return m, nil
}

// candidatesOf returns the candidates of a question, in the named domains if there are any, and the domains of its
// route.
func candidatesOf(ctx context.Context, client target.Client, c conversation, q question, domains []string) (
	[]recalled, []string, error,
) {
	body := map[string]any{
		"user_id": c.user(), "query": q.Text, "limit": 100, "touch": false,
		"at": c.End.Add(routeLag.Duration).Format(time.RFC3339Nano),
	}
	if len(domains) > 0 {
		body["domains"] = domains
	}
	var answer struct {
		Memories []recalled `json:"memories"`
		Route    struct {
			Domains []string `json:"domains"`
		} `json:"route"`
	}
	err := client.Call(ctx, "POST", "/v1/recall", body, &answer)
	return answer.Memories, answer.Route.Domains, err
}

// add counts one question.
func (m *Missed) add(evidence, all, routed []string, hasRoute bool) {
	m.Questions++
	if hasRoute {
		m.Routed++
	}
	gains := false
	for _, id := range evidence {
		m.Evidence++
		switch {
		case slices.Contains(all, id):
			m.Found++
			if hasRoute && !slices.Contains(routed, id) {
				m.Hidden++
			}
		case slices.Contains(routed, id):
			m.Added++
			gains = true
		}
	}
	if gains {
		m.Gaining++
	}
}

// printMissed writes how much evidence searches of the routed domains would add.
func printMissed(w io.Writer, list []Missed) {
	fmt.Fprintf(w, "candidates, %s after the last turn\tquestions\trouted\tevidence\tfound among all\t"+
		"added by the routed domains\tof questions\thidden by them\n", routeLag.Name)
	for _, m := range list {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n",
			m.Written, m.Questions, m.Routed, m.Evidence, m.Found, m.Added, m.Gaining, m.Hidden)
	}
}
