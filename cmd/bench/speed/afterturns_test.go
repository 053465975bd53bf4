package speed

import (
	"strings"
	"testing"
)

func TestStatement_IsNewEachTime(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range 5000 {
		text := statement(n)
		if m, double := seen[text]; double {
			t.Fatalf("statements %d and %d are both %q", m, n, text)
		}
		seen[text] = n
	}
}

func TestData_TakesContentsAndQueriesFromTexts(t *testing.T) {
	t.Parallel()
	texts := Texts{Contents: []string{"Ana: one", "Ben: two"}, Queries: []string{"Who?", "When?"}}
	d := Data{Users: 2, Each: 10, Texts: texts}
	seen := map[string]bool{}
	for j := range d.Each {
		m := d.memory(1, j)
		if seen[m.Content] || !strings.HasSuffix(m.Content, "Ana: one") && !strings.HasSuffix(m.Content, "Ben: two") {
			t.Errorf("memory %d is %q", j, m.Content)
		}
		seen[m.Content] = true
	}
	if d.query(3) != "When?" {
		t.Errorf("query 3 is %q", d.query(3))
	}
	if syllables := (Data{}); syllables.query(3) != query(3) {
		t.Errorf("query 3 of no texts is %q", syllables.query(3))
	}
}

func TestAfterTurns_ReportsMissedTargets(t *testing.T) {
	t.Parallel()
	sample := func(p50, p95, p99 float64) Sample { return Sample{Requests: 1, P50: p50, P95: p95, P99: p99} }
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
