package speed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// AfterTurnsReport compares recalls that follow a turn of the same user with recalls alone.
type AfterTurnsReport struct {
	Size     string          `json:"size"`
	Machine  measure.Machine `json:"machine"`
	Settings []string        `json:"settings,omitempty"`
	Pause    float64         `json:"pause_ms"`
	Data     []AfterTurns    `json:"data"`
}

// AfterTurns is the measurement of users with one number of memories. One client sends
// all requests, and pauses between two recalls.
type AfterTurns struct {
	Data     string         `json:"data"`
	Memories int            `json:"memories"`              // of each user, before the turns
	Never    measure.Sample `json:"first_never_recalled"`  // first of each user since the load, after a restart
	First    measure.Sample `json:"first_recalled_before"` // first of each user after a further restart
	Floor    measure.Sample `json:"floor,omitzero"`        // one search and one SELECT; the large size only
	Alone    measure.Sample `json:"alone"`                 // nothing of the user changes between two recalls
	After    measure.Sample `json:"after_turn"`            // right after a turn of the user was processed
	Turn     measure.Sample `json:"turn"`                  // with wait
	Kept     float64        `json:"facts_kept_per_turn"`   // in addition to the memory of the message
	Memory   measure.Memory `json:"memory"`                // of the server, at the end
}

// RunAfterTurns measures every size of data, each on new stores.
func RunAfterTurns(ctx context.Context, o Options) (report AfterTurnsReport, err error) {
	report = AfterTurnsReport{
		Size: string(o.Size), Machine: measure.ThisMachine(), Settings: o.Settings,
		Pause: float64(o.Pause.Microseconds()) / 1000,
	}
	for _, data := range o.Data {
		found, err := measureAfterTurns(ctx, o, data)
		if err != nil {
			return report, err
		}
		report.Data = append(report.Data, found)
	}
	return report, nil
}

func measureAfterTurns(ctx context.Context, o Options, data content.Data) (found AfterTurns, err error) {
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return found, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	b := &bench{Options: o, server: server, all: target.Servers{server}, report: &Report{}}
	if err := b.load(ctx, data); err != nil {
		return found, fmt.Errorf("%w\n%s", err, server.Log())
	}
	if o.Size == target.Large {
		if b.floor, err = openFloor(ctx, server.Stores); err != nil {
			return found, err
		}
		defer b.floor.close()
	}
	a := &afterTurns{bench: b, data: data, pace: measure.Pace{Slice: o.Slice, Pause: o.Pause}}
	if err := a.measure(ctx); err != nil {
		return found, fmt.Errorf("%w\n%s", err, server.Log())
	}
	found = AfterTurns{
		Data: data.String(), Memories: data.Each, Never: a.never.Sample(), First: a.first.Sample(),
		Floor: a.bare.Sample(), Alone: a.alone.Sample(),
		After: a.after.Sample(), Turn: a.turns.Sample(), Kept: float64(a.kept) / float64(len(a.turns.Latencies)),
	}
	found.Memory, err = server.Memory()
	return found, err
}

// afterTurns measures the users of one server.
type afterTurns struct {
	*bench
	data content.Data
	pace measure.Pace
	next int // number of the next request
	kept int // facts

	never, first, bare, alone, after, turns measure.Times
}

func (a *afterTurns) measure(ctx context.Context) error {
	for i := range a.Rounds + 1 {
		if err := a.server.Restart(); err != nil {
			return err
		}
		first := &a.first
		if i == 0 {
			first = &a.never
		}
		if err := a.meetAll(ctx, first); err != nil {
			return err
		}
	}
	var warm afterTurns
	warm.bench, warm.data = a.bench, a.data
	warm.pace = measure.Pace{Slice: a.Slice / 4, Pause: a.Pause}
	if err := warm.round(ctx); err != nil {
		return err
	}
	a.next = warm.next
	for i := range a.Rounds {
		fmt.Fprintf(a.Progress, "%s: round %d of %d\n", a.data, i+1, a.Rounds)
		if err := a.round(ctx); err != nil {
			return err
		}
	}
	return nil
}

// meetAll recalls once for each user. Before that, a recall for a user without memories opens the connections.
func (a *afterTurns) meetAll(ctx context.Context, first *measure.Times) error {
	if err := a.recall(ctx, "stranger", 0); err != nil {
		return err
	}
	for i := range a.data.Users {
		a.next++
		if err := first.Call(func() error { return a.recall(ctx, a.data.User(i), a.next) }); err != nil {
			return err
		}
	}
	return nil
}

// round measures the floor, recalls alone, and recalls after turns, each for a slice of time.
func (a *afterTurns) round(ctx context.Context) error {
	if a.floor != nil {
		if err := a.pace.Run(ctx, &a.bare, &a.next, func(n int) error {
			return a.floor.recall(ctx, a.user(n), a.data.Query(n))
		}); err != nil {
			return fmt.Errorf("floor: %w", err)
		}
	}
	if err := a.pace.Run(ctx, &a.alone, &a.next, func(n int) error { return a.recall(ctx, a.user(n), n) }); err != nil {
		return err
	}
	if err := a.pace.Each(ctx, &a.next, func(n int) error {
		if err := a.turns.Call(func() error { return a.turn(ctx, a.user(n), n) }); err != nil {
			return err
		}
		return a.after.Call(func() error { return a.recall(ctx, a.user(n), n) })
	}); err != nil {
		return err
	}
	if err := a.server.Settle(ctx); err != nil {
		return err
	}
	// The next round begins with what is known of each user.
	for i := range a.data.Users {
		if err := a.recall(ctx, a.data.User(i), a.next); err != nil {
			return err
		}
	}
	return nil
}

// user is the user of the n-th request.
func (a *afterTurns) user(n int) string {
	return a.data.User(rand.New(rand.NewPCG(uint64(n), 7)).IntN(a.data.Users))
}

func (a *afterTurns) recall(ctx context.Context, user string, n int) error {
	ask := target.Body(map[string]any{"user_id": user, "query": a.data.Query(n)})
	_, err := a.server.Do(ctx, "POST", "/v1/recall", ask)
	return err
}

// turn reports a statement of a user, waits until it is processed, and counts the facts that were kept.
func (a *afterTurns) turn(ctx context.Context, user string, n int) error {
	answer, err := a.server.Do(ctx, "POST", "/v1/turns", target.Body(map[string]any{
		"user_id": user, "conversation_id": "now", "wait": true,
		"messages": []map[string]string{{"role": "user", "content": content.Statement(n)}},
	}))
	if err != nil {
		return err
	}
	var turn struct {
		Status     string `json:"status"`
		Candidates []struct {
			Verdict string `json:"verdict"`
		} `json:"candidates"`
	}
	if err := json.Unmarshal(answer, &turn); err != nil {
		return err
	}
	if turn.Status != "processed" {
		return fmt.Errorf("turn %d of %s is %s", n, user, turn.Status)
	}
	for _, c := range turn.Candidates {
		if c.Verdict == "kept" {
			a.kept++
		}
	}
	return nil
}
