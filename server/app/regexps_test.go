package app

import (
	"testing"

	"hippocampus/internal/lazyregexp"
)

// The expressions of all packages of the server are compiled when they are first used.
func TestRegexps_Compile(t *testing.T) {
	t.Parallel()
	if count, err := lazyregexp.Check(); err != nil || count < 200 {
		t.Errorf("%d expressions: %v", count, err)
	}
}
