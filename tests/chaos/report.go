package main

import (
	"fmt"
	"time"
)

// Report is the result of a run.
type Report struct {
	counts     Counts
	settled    time.Duration // after the last fault
	violations []Violation
}

// shown is how many violations are printed in full.
const shown = 50

func (r *Report) print(o options, l *Ledger) {
	outcomes := map[Outcome]int{}
	kinds := map[Kind]int{}
	for _, e := range l.Entries() {
		outcomes[e.Outcome]++
		if e.Outcome == Acknowledged {
			kinds[e.Kind]++
		}
	}
	fmt.Printf("entries %d: acknowledged %d, unknown %d, refused %d\n", len(l.Entries()),
		outcomes[Acknowledged], outcomes[Unknown], outcomes[Refused])
	n := &r.counts
	fmt.Printf("faults: kills %d, hangs %d, cuts %d, clock jumps %d, crashes of stores %d, full disks %d; "+
		"settled after %s\n", n.Kills.Load(), n.Hangs.Load(), n.Cuts.Load(), n.Jumps.Load(), n.Crashes.Load(),
		n.Fills.Load(), r.settled.Round(time.Second))
	fmt.Printf("acknowledged, by kind: %v\n", kinds)
	for i, v := range r.violations {
		if i == shown {
			fmt.Printf("... and %d more\n", len(r.violations)-shown)
			break
		}
		fmt.Printf("VIOLATION (seed %d): %s\n", o.seed, v)
	}
	fmt.Printf("violations: %d\n", len(r.violations))
}
