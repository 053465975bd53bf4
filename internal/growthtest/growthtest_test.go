package growthtest

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// recorder is a test whose failure is noted.
type recorder struct {
	testing.TB
	failed bool
}

func (*recorder) Helper() {}
func (r *recorder) Fatalf(string, ...any) {
	r.failed = true
	runtime.Goexit()
}

// fails reports whether the check fails for work that takes one nanosecond a step. Counted steps in place of measured
// time make the verdict independent of the machine.
func fails(tb testing.TB, head, unit string, stepsOf func(text string) int) bool {
	r := &recorder{TB: tb}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(r, head, unit, func(text string) time.Duration { return time.Duration(stepsOf(text)) })
	}()
	<-done
	return r.failed
}

func TestCheck_FindsQuadraticTime(t *testing.T) {
	t.Parallel()
	linear := func(text string) int { return 1000 * len(text) }
	quadratic := func(text string) int { return len(text) * len(text) }
	afterQuote := func(text string) int {
		if text[0] == '"' {
			return linear(text) + quadratic(text)
		}
		return linear(text)
	}
	for name, test := range map[string]struct {
		head, unit string
		stepsOf    func(string) int
		want       bool
	}{
		"linear":             {"", "a", linear, false},
		"quadratic":          {"", "ab", quadratic, true},
		"quadratic by head":  {`"`, "ab", afterQuote, true},
		"linear without it":  {"", "ab", afterQuote, false},
		"nothing to repeat":  {"a", "", quadratic, false},
		"a unit as large":    {"", strings.Repeat("a", small), linear, false},
		"nothing to measure": {"", "a", func(string) int { return 0 }, false},
	} {
		if got := fails(t, test.head, test.unit, test.stepsOf); got != test.want {
			t.Errorf("%s: fails is %v", name, got)
		}
	}
}

func TestThreadTimeOf_CountsWork(t *testing.T) {
	t.Parallel()
	const work = 5 * time.Millisecond
	got := threadTimeOf(func() {
		for start := threadTime(); threadTime()-start < work; {
		}
	})
	if got < work {
		t.Errorf("work of %s is counted as %s", work, got)
	}
}
