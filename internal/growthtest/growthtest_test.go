package growthtest

import (
	"runtime"
	"strings"
	"testing"
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

func fails(tb testing.TB, head, unit string, run func(string)) bool {
	r := &recorder{TB: tb}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Check(r, head, unit, run)
	}()
	<-done
	return r.failed
}

func TestCheck_FindsQuadraticTime(t *testing.T) {
	t.Parallel()
	sink := 0
	linear := func(text string) {
		for range 20 {
			for i := range len(text) {
				sink += int(text[i])
			}
		}
	}
	quadratic := func(text string) {
		for n := 0; n < len(text); n += 16 {
			for i := range n {
				sink += int(text[i])
			}
		}
	}
	afterQuote := func(text string) {
		linear(text)
		if text[0] == '"' {
			quadratic(text)
		}
	}
	for name, test := range map[string]struct {
		head, unit string
		run        func(string)
		want       bool
	}{
		"linear":             {"", "a", linear, false},
		"quadratic":          {"", "ab", quadratic, true},
		"quadratic by head":  {`"`, "ab", afterQuote, true},
		"linear without it":  {"", "ab", afterQuote, false},
		"nothing to repeat":  {"a", "", quadratic, false},
		"a unit as large":    {"", strings.Repeat("a", small), linear, false},
		"nothing to measure": {"", "a", func(string) {}, false},
	} {
		if got := fails(t, test.head, test.unit, test.run); got != test.want {
			t.Errorf("%s: fails is %v", name, got)
		}
	}
}
