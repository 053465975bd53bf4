package speed

import (
	"errors"
	"fmt"
	"hippocampus/cmd/bench/measure"
	"io"
	"text/tabwriter"
)

// Print writes the report as a table for people.
func (r AfterTurnsReport) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s, %d cores, 1 client, %.0f ms between two recalls\n\n", r.Size, r.Machine.Cores, r.Pause)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "data\t\tn\tp50 ms\tp95 ms\tp99 ms\tto alone, p50\tp95\tto the floor, p50\tp95\t")
	for _, d := range r.Data {
		row := func(name string, s measure.Sample, recall bool) {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.2f\t%.2f\t%.2f\t", d.Data, name, s.Requests, s.P50, s.P95, s.P99)
			for _, other := range []measure.Sample{d.Alone, d.Floor} {
				if p50, p95, _ := other.Ratios(s); recall && p50 > 0 {
					fmt.Fprintf(w, "%.2f\t%.2f\t", p50, p95)
				} else {
					fmt.Fprint(w, "\t\t")
				}
			}
			fmt.Fprintln(w)
		}
		if d.Floor.Requests > 0 {
			row("floor", d.Floor, false)
		}
		row("recall alone", d.Alone, true)
		row("recall after a turn", d.After, true)
		row("turn, processed", d.Turn, false)
		row("first, never recalled", d.Never, false)
		row("first, recalled before the start", d.First, false)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, d := range r.Data {
		fmt.Fprintf(out, "%s: %.2f facts kept of each turn; the server holds %d MiB, of which %d MiB are anonymous, "+
			"and %d MiB of mapped files\n", d.Data, d.Kept, d.Memory.Own()>>20, d.Memory.Anonymous>>20, d.Memory.Mapped>>20)
	}
	return nil
}

// afterTurnsRatio bounds the p50 of a recall after a turn, relative to recalls alone.
const afterTurnsRatio = 1.3

// largeAlone bounds recalls alone relative to the floor, by the user's number of memories.
var largeAlone = map[int]limit{1000: {p50: 1.25, p95: 1.5}, 10_000: {p50: 1.5}}

// Check returns an error that lists every missed target.
func (r AfterTurnsReport) Check() error {
	var m misses
	for _, d := range r.Data {
		if p50, _, _ := d.Alone.Ratios(d.After); p50 > afterTurnsRatio {
			m.miss("recall after a turn, %s: p50 is %.2f of recall alone, above %.1f", d.Data, p50, afterTurnsRatio)
		}
		m.memory(d.Data, d.Memory)
		if d.Floor.Requests > 0 {
			p50, p95, _ := d.Floor.Ratios(d.Alone)
			l := largeAlone[d.Memories]
			if l.p50 > 0 && p50 > l.p50 || l.p95 > 0 && p95 > l.p95 {
				m.miss("recall alone, %s: p50 and p95 are %.2f and %.2f of the floor's, above %.2f and %.2f",
					d.Data, p50, p95, l.p50, l.p95)
			}
			continue
		}
		for name, s := range map[string]measure.Sample{"recall alone": d.Alone, "recall after a turn": d.After} {
			m.smallRecall(name, d.Data, d.Memories, s)
		}
		for name, s := range map[string]measure.Sample{"never recalled": d.Never, "recalled before": d.First} {
			if d.Memories == 10_000 && s.P50 >= smallFirst {
				m.miss("first recall on SQLite, %s, %s: p50 is %.0f ms, not below %d", d.Data, name, s.P50, smallFirst)
			}
		}
	}
	return errors.Join(m...)
}
