package speed

import (
	"hippocampus/cmd/bench/measure"
	"strings"
	"testing"
)

func TestAfterTurns_ReportsMissedTargets(t *testing.T) {
	t.Parallel()
	sample := func(p50, p95, p99 float64) measure.Sample {
		return measure.Sample{Requests: 1, P50: p50, P95: p95, P99: p99}
	}
	floor := sample(2, 4, 5)
	for name, c := range map[string]struct {
		AfterTurns
		misses int
	}{
		"large met":      {AfterTurns{Memories: 1000, Floor: floor, Alone: sample(2.5, 6, 9), After: sample(3.25, 9, 9)}, 0},
		"large slow":     {AfterTurns{Memories: 1000, Floor: floor, Alone: sample(2.6, 5, 9), After: sample(3, 9, 9)}, 1},
		"large after":    {AfterTurns{Memories: 100, Floor: floor, Alone: sample(9, 9, 9), After: sample(12, 19, 19)}, 1},
		"SQLite met":     {AfterTurns{Memories: 1000, Alone: sample(3.3, 5, 9), After: sample(3.9, 9, 11)}, 0},
		"SQLite slow":    {AfterTurns{Memories: 1000, Alone: sample(3.9, 5, 9), After: sample(4, 9, 11)}, 1},
		"SQLite spread":  {AfterTurns{Memories: 1000, Alone: sample(3, 5, 9), After: sample(3.9, 9, 11)}, 1},
		"SQLite started": {AfterTurns{Memories: 10_000, First: sample(60, 60, 60)}, 3},
		"SQLite first":   {AfterTurns{Memories: 10_000, Never: sample(60, 60, 60)}, 3},
		"memory":         {AfterTurns{Memory: measure.Memory{Proportional: 151 << 20}}, 1},
		"files":          {AfterTurns{Memory: measure.Memory{Proportional: 170 << 20, Mapped: 20 << 20}}, 0},
	} {
		got := 0
		if err := (AfterTurnsReport{Data: []AfterTurns{c.AfterTurns}}).Check(); err != nil {
			got = strings.Count(err.Error(), "missed: ")
		}
		if got != c.misses {
			t.Errorf("%s: %d misses, not %d", name, got, c.misses)
		}
	}
}
