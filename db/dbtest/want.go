package dbtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hippocampus/internal/memory"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantKind(t *testing.T, err error, want memory.Kind) {
	t.Helper()
	if got := memory.KindOf(err); got != want {
		t.Errorf("got an error of kind %q, want %q: %v", got, want, err)
	}
}

// wantSame compares two values. Nil and empty slices are equal.
func wantSame(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
