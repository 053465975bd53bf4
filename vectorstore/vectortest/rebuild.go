package vectortest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"hippocampus/vectorstore"
)

// Rebuild checks that an empty store implements vectorstore.Rebuilder and
// Ensurer: the new collection replaces the old one in one step.
func Rebuild(t *testing.T, s vectorstore.Store) {
	t.Helper()
	r, ok := s.(vectorstore.Rebuilder)
	if !ok {
		t.Fatal("the store is not a vectorstore.Rebuilder")
	}
	o := owner()
	old, kept := record(o, axis(0, 1)), record(o, axis(0, 1))
	changed, gone := record(o, axis(0, 1)), record(o, axis(0, 1))
	must(t, s.Insert(t.Context(), []vectorstore.Record{old}))
	awaitIDs(t, s, around(o, axis(0, 1)), old.ID)

	err := r.Rebuild(t.Context(), func(ctx context.Context, into vectorstore.Writer) error {
		must(t, into.Insert(ctx, []vectorstore.Record{kept}))
		return errStop
	})
	if err != errStop { //nolint:errorlint // the contract returns the error unchanged
		t.Errorf("a fill that fails: %v, want its own error", err)
	}
	if got := idsOf(collect(t, s)); !slices.Equal(got, []string{old.ID}) {
		t.Errorf("after a failed fill the store holds %q, want the old record", got)
	}

	// At any moment, a search finds the old record or all of the new ones.
	searching, stop := context.WithCancel(t.Context())
	searched := make(chan error, 1)
	go func() {
		for searching.Err() == nil {
			hits, err := s.Search(t.Context(), around(o, axis(0, 1)))
			if got := ids(hits); err != nil || len(got) != 2 && !slices.Equal(got, []string{old.ID}) {
				searched <- fmt.Errorf("a search finds %q, %w", got, err)
				return
			}
		}
		searched <- nil
	}()
	must(t, r.Rebuild(t.Context(), func(ctx context.Context, into vectorstore.Writer) error {
		must(t, into.Insert(ctx, []vectorstore.Record{kept, changed, gone}))
		changed.Content = "likes coffee"
		must(t, into.Replace(ctx, []vectorstore.Record{changed}))
		must(t, into.Delete(ctx, []string{gone.ID}))
		if got := idsOf(collect(t, s)); !slices.Equal(got, []string{old.ID}) {
			t.Errorf("during the fill the store holds %q, want the old record", got)
		}
		return nil
	}))
	stop()
	if err := <-searched; err != nil {
		t.Error(err)
	}
	err = r.Rebuild(t.Context(), func(ctx context.Context, into vectorstore.Writer) error {
		must(t, r.Rebuild(ctx, func(ctx context.Context, into vectorstore.Writer) error {
			return into.Insert(ctx, []vectorstore.Record{kept, changed})
		}))
		return into.Insert(ctx, []vectorstore.Record{old})
	})
	if err == nil {
		t.Error("the rebuild that began first succeeds despite a later one")
	}
	late := record(o, axis(0, 1))
	must(t, s.Insert(t.Context(), []vectorstore.Record{late}))
	var contents []string
	for _, r := range collect(t, s) {
		contents = append(contents, r.Content)
	}
	slices.Sort(contents)
	if !slices.Equal(contents, []string{"likes coffee", "likes tea", "likes tea"}) {
		t.Errorf("after the rebuild the store holds %q", contents)
	}
	awaitIDs(t, s, around(o, axis(0, 1)), kept.ID, changed.ID, late.ID)
	if m, ok := s.(vectorstore.Ensurer); !ok || m.Losses() != 1 || m.Ensure(t.Context()) != nil || m.Losses() != 1 {
		t.Error("the store is not a vectorstore.Ensurer, or it counts more losses than its creation")
	}
}
