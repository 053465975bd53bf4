package lazyregexp_test

import (
	"sync"
	"testing"

	"hippocampus/internal/lazyregexp"
)

func TestRegexp_IsCompiledOnceByManyUsers(t *testing.T) {
	t.Parallel()
	tea := lazyregexp.New(`(?i)\bTEA\b`)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if !tea.MatchString("green tea") || tea.MatchString("steam") {
				t.Error("the expression matches other texts")
			}
		})
	}
	group.Wait()
}

func TestCheck_FindsFaultyPatterns(t *testing.T) {
	t.Parallel()
	faulty := lazyregexp.New(`(`)
	if _, err := lazyregexp.Check(); err == nil {
		t.Error("the check finds no fault")
	}
	defer func() {
		if recover() == nil {
			t.Error("a faulty pattern was used")
		}
	}()
	faulty.MatchString("")
}
