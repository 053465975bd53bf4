package nearest

import (
	"testing"

	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest"
)

func TestName_IsTheNearest(t *testing.T) {
	t.Parallel()
	known := []string{"recall.limit", "recall.log", "gate.threshold"}
	for name, want := range map[string]string{
		"recall.limits": "recall.limit", "recal.log": "recall.log", "gate.treshold": "gate.threshold",
		"recall.limit": "recall.limit", "nothing.alike": "", "": "",
	} {
		if got := Name(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestDistance_IsAMetric(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"recall.limt", "recall.limit", 1},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-c]{0,6}`)
		a := word.Draw(t, "a")
		b := word.Draw(t, "b")
		c := word.Draw(t, "c")
		same, symmetric := (distance(a, b) == 0) == (a == b), distance(a, b) == distance(b, a)
		if !same || !symmetric || distance(a, c) > distance(a, b)+distance(b, c) {
			t.Fatalf("not a metric: %q %q %q", a, b, c)
		}
	})
}
