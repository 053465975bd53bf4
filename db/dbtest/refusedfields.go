package dbtest

import (
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// refusedFields keeps each field once, for its endpoint.
func refusedFields(t *testing.T, s db.Store) {
	ctx := t.Context()
	none, err := s.RefusedFields(ctx, "https://one")
	must(t, err)
	wantSame(t, "before the first", len(none), 0)
	want := []memory.RefusedField{
		{Endpoint: "https://one", Model: "a", Field: "max_tokens"},
		{Endpoint: "https://one", Model: "a", Field: "temperature"},
		{Endpoint: "https://one", Model: "b", Field: "max_tokens"},
	}
	other := memory.RefusedField{Endpoint: "https://one/v1", Model: "a", Field: "temperature"}
	for _, f := range []memory.RefusedField{want[2], other, want[1], want[0], want[1]} {
		must(t, s.KeepRefusedField(ctx, f))
	}
	found, err := s.RefusedFields(ctx, "https://one")
	must(t, err)
	wantSame(t, "the fields of the endpoint", found, want)
}
