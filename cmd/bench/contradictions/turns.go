package contradictions

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/cmd/bench/target"
)

// usersAtOnce is how many users report turns at the same time.
const usersAtOnce = 4

// MeasureTurns runs pairs of one language on a server without a model. Each statement is the message of a turn, in the
// first person, so that an older statement that the gate refuses cannot be superseded.
func MeasureTurns(ctx context.Context, client target.Client, pairs []Pair, others func(Pair) []string) (Result, error) {
	r := Result{Language: pairs[0].Language}
	superseded := make([]bool, len(pairs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(usersAtOnce)
	for i, p := range pairs {
		stated := others(p)
		r.Others += len(stated)
		group.Go(func() (err error) {
			u := talker{client, fmt.Sprintf("%s-%s-%d-%d", p.Language, p.Half, len(stated), i)}
			if superseded[i], err = u.live(ctx, p, stated); err != nil {
				return fmt.Errorf("%s / %s: %w", p.Older, p.Newer, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return r, err
	}
	for i, p := range pairs {
		r.add(p, superseded[i])
	}
	r.Others /= len(pairs)
	return r, nil
}

// talker is a user who reports statements as turns.
type talker struct {
	target.Client
	id string
}

// live lets the user state other things, then the older statement of a pair, and 30 days later the newer one.
func (u talker) live(ctx context.Context, p Pair, others []string) (superseded bool, err error) {
	begin := time.Date(2031, 1, 1, 9, 0, 0, 0, time.UTC)
	for i, other := range others {
		if _, err := u.state(ctx, other, begin.AddDate(0, 0, i-len(others))); err != nil {
			return false, err
		}
	}
	older, err := u.state(ctx, p.Older, begin)
	if err != nil {
		return false, err
	}
	if _, err := u.state(ctx, p.Newer, begin.AddDate(0, 0, 30)); err != nil {
		return false, err
	}
	var listed struct {
		Memories []struct {
			SourceTurnID string `json:"source_turn_id"`
		} `json:"memories"`
	}
	err = u.Call(ctx, "GET", "/v1/memories?status=superseded&limit=500&user_id="+u.id, nil, &listed)
	for _, m := range listed.Memories {
		superseded = superseded || m.SourceTurnID == older
	}
	return superseded, err
}

// state reports a statement as a turn, and returns the turn's id.
func (u talker) state(ctx context.Context, statement string, at time.Time) (id string, err error) {
	var turn struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	err = u.Call(ctx, "POST", "/v1/turns", map[string]any{
		"user_id": u.id, "at": at.Format(time.RFC3339), "wait": true,
		"messages": []map[string]string{{"role": "user", "content": inFirstPerson(statement)}},
	}, &turn)
	if err == nil && turn.Status != "processed" {
		err = fmt.Errorf("the turn %s is %s", turn.ID, turn.Status)
	}
	return turn.ID, err
}
