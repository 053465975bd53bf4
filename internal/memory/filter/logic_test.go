package filter_test

import (
	"testing"

	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
	"hippocampus/internal/memory/filter/filtertest"
)

func TestMatches_ObeysLogic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &memory.Memory{Metadata: filtertest.Metadata().Draw(t, "metadata"), Tags: []string{"work"}, Importance: 0.5}
		matches := func(raw string) bool {
			f, fault := filter.Parse([]byte(raw))
			if fault != nil {
				t.Fatalf("%s: %s %s", raw, fault.Path, fault.Message)
			}
			return f.Matches(m)
		}
		a, b := filtertest.Filter().Draw(t, "a"), filtertest.Filter().Draw(t, "b")
		isA, isB := matches(a), matches(b)
		for raw, want := range map[string]bool{
			`{"not":` + a + `}`:                                        !isA,
			`{"not":{"not":` + a + `}}`:                                isA,
			`{"and":[` + a + `,` + b + `]}`:                            isA && isB,
			`{"or":[` + a + `,` + b + `]}`:                             isA || isB,
			`{"not":{"or":[{"not":` + a + `},{"not":` + b + `}]}}`:     isA && isB,
			`{"and":[{"or":[` + a + `,` + b + `]},{"not":` + a + `}]}`: isB && !isA,
		} {
			if got := matches(raw); got != want {
				t.Fatalf("%s is %v, want %v", raw, got, want)
			}
		}
	})
}

func TestParse_AcceptsOrRefusesAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(filtertest.Filter().Draw(t, "filter"))
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "place")] = rapid.Byte().Draw(t, "byte")
		}
		m := &memory.Memory{Metadata: filtertest.Metadata().Draw(t, "metadata")}
		f, fault := filter.Parse(raw)
		if (f == nil) == (fault == nil) {
			t.Fatalf("%q: filter %v, fault %v", raw, f, fault)
		}
		f.Matches(m)
		f.Requirement()
	})
}
