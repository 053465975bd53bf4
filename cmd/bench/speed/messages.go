package speed

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// MessagesOptions of a measurement of the cost of the messages of turns.
type MessagesOptions struct {
	Turns    int           // that each server processes, one after the other
	Users    int           // whose turns these are
	Slice    time.Duration // duration of one round of accepting turns, of each side
	Rounds   int           // rounds of each side
	Pause    time.Duration // between two accepted turns
	Settings []string
	Progress io.Writer
}

// MessagesReport compares a server that keeps messages with one that does not.
type MessagesReport struct {
	Machine measure.Machine `json:"machine"`
	Turns   int             `json:"turns"`
	Sides   []MessagesSide  `json:"sides"`
	Floor   measure.Sample  `json:"floor"`           // one INSERT of a turn
	Handled measure.Sample  `json:"floor_over_http"` // the same in a handler of net/http
}

// MessagesSide is the measurement of one server.
type MessagesSide struct {
	Name      string             `json:"name"`
	Accepted  measure.Sample     `json:"accepted"`  // POST /v1/turns
	Processed measure.Sample     `json:"processed"` // POST /v1/turns with wait
	Rows      map[string]float64 `json:"rows"`      // in Postgres, for each turn, by table
	Bytes     float64            `json:"bytes"`     // in Postgres, for each turn, without dead rows
	Tables    map[string]float64 `json:"bytes_by_table"`
	Vectors   float64            `json:"vector_rows"` // in Milvus, for each turn
}

// RunMessages measures both servers alternately, on stores of their own.
func RunMessages(ctx context.Context, o MessagesOptions) (report MessagesReport, err error) {
	report = MessagesReport{Machine: measure.ThisMachine(), Turns: o.Turns}
	var sides []*messagesBench
	names := []string{"facts alone", "facts and messages"}
	for _, enabled := range []string{"false", "true"} {
		settings := append([]string{"HIPPOCAMPUS_MESSAGES_ENABLED=" + enabled}, o.Settings...)
		server, err := target.Start(ctx, target.Options{Size: target.Large, Settings: settings})
		if err != nil {
			return report, err
		}
		defer func() { err = cmp.Or(err, server.Close()) }() //nolint:gocritic // both run until the end
		stores, err := openFloor(ctx, server.Stores)
		if err != nil {
			return report, err
		}
		defer stores.close() //nolint:gocritic // both run until the end
		sides = append(sides, &messagesBench{Server: server, stores: stores})
	}
	report.Sides = make([]MessagesSide, len(sides))
	before := make([]map[string]int64, len(sides))
	for i, side := range sides {
		if before[i], err = side.bytes(ctx); err != nil {
			return report, err
		}
	}
	fmt.Fprintf(o.Progress, "processing %d turns on each side\n", o.Turns)
	const part = 50
	for done := 0; done < o.Turns; done += part {
		for _, side := range sides {
			if err := side.process(ctx, o, min(part, o.Turns-done)); err != nil {
				return report, fmt.Errorf("%w\n%s", err, side.Log())
			}
		}
	}
	for i, side := range sides {
		if report.Sides[i], err = side.count(ctx, o.Turns, before[i]); err != nil {
			return report, err
		}
		report.Sides[i].Name = names[i]
	}
	if err := report.accept(ctx, o, sides); err != nil {
		return report, err
	}
	for i, side := range sides {
		report.Sides[i].Accepted, report.Sides[i].Processed = side.accepted.Sample(), side.processed.Sample()
	}
	return report, nil
}

// accept measures the time until a turn is durable, of both servers and of the floor.
func (r *MessagesReport) accept(ctx context.Context, o MessagesOptions, sides []*messagesBench) error {
	stores := sides[0].stores
	if _, err := stores.database.Exec(ctx, `CREATE TABLE floor_turns (LIKE turns INCLUDING ALL)`); err != nil {
		return err
	}
	over, err := startFloor(ctx, sides[0].Stores)
	if err != nil {
		return err
	}
	defer over.close()
	messages := func(n int) (user, messages string) {
		turn := o.turn(n, false)
		return turn["user_id"].(string), string(target.Body(turn["messages"]))
	}
	var bare, handled measure.Times
	next, pace := 0, measure.Pace{Slice: o.Slice, Pause: o.Pause}
	for round := range o.Rounds {
		fmt.Fprintf(o.Progress, "accepting turns, round %d of %d\n", round+1, o.Rounds)
		if err := pace.Run(ctx, &bare, &next, func(n int) error {
			user, text := messages(n)
			return stores.turn(ctx, user, text)
		}); err != nil {
			return err
		}
		if err := pace.Run(ctx, &handled, &next, func(n int) error {
			user, text := messages(n)
			return over.turn(ctx, user, text)
		}); err != nil {
			return err
		}
		for _, side := range sides {
			if err := pace.Run(ctx, &side.accepted, &side.next, func(n int) error {
				_, err := side.Do(ctx, "POST", "/v1/turns", target.Body(o.turn(n, false)))
				return err
			}); err != nil {
				return err
			}
			if err := side.drain(ctx); err != nil {
				return err
			}
		}
	}
	r.Floor, r.Handled = bare.Sample(), handled.Sample()
	return nil
}

// Print writes the report as tables for people.
func (r MessagesReport) Print(out io.Writer) error {
	fmt.Fprintf(out, "%d turns on each side, %d cores\n\n", r.Turns, r.Machine.Cores)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "of each turn\tPostgres rows\tmemories\tbytes\tMilvus rows\tprocessed p50 ms\tp95 ms\t")
	for _, s := range r.Sides {
		rows := 0.0
		for _, n := range s.Rows {
			rows += n
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.2f\t%.0f\t%.2f\t%.1f\t%.1f\t\n",
			s.Name, rows, s.Rows["agent_memories"], s.Bytes, s.Vectors, s.Processed.P50, s.Processed.P95)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nbytes of each turn, by table\t\t")
	for _, s := range r.Sides {
		for _, table := range slices.Sorted(maps.Keys(s.Tables)) {
			fmt.Fprintf(w, "%s\t%s\t%.0f\t\n", s.Name, table, s.Tables[table])
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\naccepting a turn\tn\tp50 ms\tp95 ms\tto the floor, p50\tp95\t")
	row := func(name string, s measure.Sample) {
		p50, p95, _ := r.Floor.Ratios(s)
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t\n", name, s.Requests, s.P50, s.P95, p50, p95)
	}
	row("floor", r.Floor)
	row("floor over HTTP", r.Handled)
	for _, s := range r.Sides {
		row(s.Name, s.Accepted)
	}
	if len(r.Sides) == 2 {
		p50, p95, _ := r.Sides[0].Accepted.Ratios(r.Sides[1].Accepted)
		fmt.Fprintf(w, "with messages to without\t\t\t\t%.2f\t%.2f\t\n", p50, p95)
	}
	return w.Flush()
}
