package speed

import (
	"context"
	"fmt"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// The kinds of request of measureTurns.
const (
	contextAlone  = "context of 2,000 tokens, before a turn"
	contextByTurn = "turn that returns such a context"
	twoRequests   = "context, then its turn"
)

const turnPause = 20 * time.Millisecond

// measureTurns measures contexts in two ways in turn, so that each user has as many of both: a context and then a turn
// with the same words, and a turn that returns its context. There is a pause after each turn.
func (r *RequestsReport) measureTurns(
	ctx context.Context, server *target.Server, user func(n int) string, while time.Duration,
) error {
	var alone, byTurn, both measure.Times
	next := 0
	step := func(n int) error {
		who, words := user(n), content.Query(n%queries)
		wanted := map[string]any{"max_tokens": 2000, "condense": false}
		said := map[string]any{
			"user_id": who, "conversation_id": "now", "messages": []map[string]string{{"role": "user", "content": words}},
		}
		if (n/talkers+n)%2 == 0 {
			said["return"], said["context"] = "context", wanted
			return byTurn.Call(func() error { return server.Call(ctx, "POST", "/v1/turns", said, nil) })
		}
		wanted["user_id"], wanted["query"] = who, words
		wanted["conversation_id"] = "now"
		return both.Call(func() error {
			if err := alone.Call(func() error { return server.Call(ctx, "POST", "/v1/context", wanted, nil) }); err != nil {
				return err
			}
			return server.Call(ctx, "POST", "/v1/turns", said, nil)
		})
	}
	for _, slice := range []time.Duration{while / 4, while} {
		alone, byTurn = measure.Times{}, measure.Times{} // the first slice is a warm-up
		both = measure.Times{}
		pace := measure.Pace{Slice: slice, Pause: turnPause}
		if err := pace.Each(ctx, &next, step); err != nil {
			return fmt.Errorf("%s: %w", contextByTurn, err)
		}
	}
	r.Requests[contextAlone], r.Requests[contextByTurn] = alone.Sample(), byTurn.Sample()
	r.Requests[twoRequests] = both.Sample()
	return nil
}

// turnRatio is the p50 of a turn that returns its context to that of the context alone, and the milliseconds between
// them; ok is false if they were not measured.
func (r RequestsReport) turnRatio() (ratio, added float64, ok bool) {
	alone, byTurn := r.Requests[contextAlone], r.Requests[contextByTurn]
	ratio, _, _ = alone.Ratios(byTurn)
	return ratio, byTurn.P50 - alone.P50, alone.Requests > 0
}
