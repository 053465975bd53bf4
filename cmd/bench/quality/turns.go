package quality

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/cmd/bench/target"
)

// Rankings of a server with default settings and queries without options.
const (
	directByDefaults = "written as memories, by defaults"
	turnsByDefaults  = "reported as turns, by defaults"
)

// Through reports which evidence is recallable after conversations were reported as turns.
type Through struct {
	Evidence   int     `json:"evidence"`   // turns that some question needs
	Recallable int     `json:"recallable"` // evidence turns with an active memory
	Share      float64 `json:"share"`      // Recallable / Evidence
	Failed     int     `json:"failed"`     // turns that the server failed to process
}

// throughTurns reports every conversation turn by turn to a new server, and queries
// it with nothing but the user and the query.
func throughTurns(ctx context.Context, o Options, conversations []conversation, lags []Lag) (
	through Through, results []Result, err error,
) {
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return Through{}, nil, err
	}
	defer func() {
		err = cmp.Or(err, server.Close())
	}()
	reported, err := reportTurns(ctx, o, server.Client, conversations)
	if err != nil {
		return Through{}, nil, err
	}
	if through, err = recallable(ctx, server.Client, conversations, reported); err != nil {
		return Through{}, nil, err
	}
	for _, c := range conversations {
		through.Failed += len(c.Turns)
	}
	through.Failed -= len(reported)
	for _, lag := range lags {
		fmt.Fprintf(o.Progress, "asking by defaults %s after the last turn\n", lag.Name)
		answers, err := askByDefaults(ctx, server.Client, conversations, turnsByDefaults, lag.Duration,
			func(r recalled) string { return reported[r.SourceTurnID] })
		if err != nil {
			return Through{}, nil, err
		}
		results = append(results, rows(conversations, lag.Name, answers, []string{turnsByDefaults})...)
	}
	return through, results, nil
}

// Roles says which roles the speakers of a conversation have when it is reported.
type Roles string

// The roles: either all speakers are users, or the second speaker is the assistant.
const (
	AllUsers      Roles = "user"
	WithAssistant Roles = "assistant"
)

// reportTurns reports every conversation turn by turn, and returns the processed turns
// by the ids of the server's turns. A failed turn is an error, unless a chat model scores.
func reportTurns(ctx context.Context, o Options, client target.Client, conversations []conversation) (
	reported map[string]string, err error,
) {
	reported = map[string]string{}
	for _, c := range conversations {
		fmt.Fprintf(o.Progress, "reporting %s: %d turns\n", c.user(), len(c.Turns))
		for _, t := range c.Turns {
			id, status, err := report(ctx, client, c, t, o.Roles)
			switch {
			case err != nil:
				return nil, fmt.Errorf("report %s of %s: %w", t.ID, c.user(), err)
			case status == "failed" && o.model:
				continue
			case status != "processed":
				return nil, fmt.Errorf("report %s of %s: the turn is %s", t.ID, c.user(), status)
			}
			reported[id] = t.ID
		}
	}
	return reported, client.Settle(ctx)
}

// report posts one turn, waits for its processing, and returns the server's id of it.
func report(ctx context.Context, client target.Client, c conversation, t turn, roles Roles) (
	id, status string, err error,
) {
	role := "user"
	if roles == WithAssistant && t.Speaker != c.Turns[0].Speaker {
		role = "assistant"
	}
	body := map[string]any{
		"user_id": c.user(), "conversation_id": t.Session, "at": t.At.Format(time.RFC3339Nano), "wait": true,
		"messages": []map[string]string{{"role": role, "name": t.Speaker, "content": t.Text}},
	}
	var answer struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	err = client.Call(ctx, "POST", "/v1/turns", body, &answer)
	return answer.ID, answer.Status, err
}

// recallable counts the turns that are evidence, and those of them that have an active memory.
func recallable(
	ctx context.Context, client target.Client, conversations []conversation, reported map[string]string,
) (Through, error) {
	var through Through
	for _, c := range conversations {
		left := map[string]bool{}
		for cursor := ""; ; {
			var page struct {
				Memories []struct {
					SourceTurnID string `json:"source_turn_id"`
				} `json:"memories"`
				NextCursor string `json:"next_cursor"`
			}
			path := "/v1/memories?status=active&limit=100&user_id=" + url.QueryEscape(c.user())
			if cursor != "" {
				path += "&cursor=" + url.QueryEscape(cursor)
			}
			if err := client.Call(ctx, "GET", path, nil, &page); err != nil {
				return Through{}, err
			}
			for _, m := range page.Memories {
				left[reported[m.SourceTurnID]] = true
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		needed := map[string]bool{}
		for _, q := range c.asked() {
			for _, id := range q.Evidence {
				needed[id] = true
			}
		}
		for id := range needed {
			through.Evidence++
			if left[id] {
				through.Recallable++
			}
		}
	}
	through.Share = float64(through.Recallable) / float64(max(1, through.Evidence))
	return through, nil
}

// askByDefaults asks every question with no option but its instant, and measures the
// turns that turnOf names for the memories of the answer. Memories of one turn count
// once, at the rank of the first.
func askByDefaults(
	ctx context.Context, client target.Client, conversations []conversation, ranking string, lag time.Duration,
	turnOf func(recalled) string,
) (map[string][]asked, error) {
	var answers []asked
	for i, c := range conversations {
		questions := c.asked()
		found := make([]Measures, len(questions))
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(2)
		for j, q := range questions {
			group.Go(func() error {
				list, err := recall(ctx, client, map[string]any{
					"user_id": c.user(), "query": q.Text, "at": c.End.Add(lag).Format(time.RFC3339Nano), "touch": false,
				})
				if err != nil {
					return fmt.Errorf("%s: %w", q.ID, err)
				}
				found[j] = measuresOf(turnsOf(list, turnOf), q.Evidence)
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		for j, q := range questions {
			answers = append(answers, asked{i, q.Category, found[j]})
		}
	}
	return map[string][]asked{ranking: answers}, nil
}

// turnsOf maps memories to their turns, each once, in the order of the memories.
func turnsOf(list []recalled, turnOf func(recalled) string) []string {
	seen := map[string]bool{}
	var turns []string
	for _, r := range list {
		if id := turnOf(r); !seen[id] {
			seen[id] = true
			turns = append(turns, id)
		}
	}
	return turns
}
