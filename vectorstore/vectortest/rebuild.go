package vectortest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"hippocampus/vectorstore"
)

// Rebuild holds an empty store to vectorstore.Rebuilder and Mender: what serves
// is replaced in one step by what was filled.
func Rebuild(t *testing.T, s vectorstore.Store) {
	t.Helper()
	r, ok := s.(vectorstore.Rebuilder)
	if !ok {
		t.Fatal("the store is no vectorstore.Rebuilder")
	}
	o := owner()
	old, kept, changed, gone := record(o, axis(0, 1)), record(o, axis(0, 1)), record(o, axis(0, 1)), record(o, axis(0, 1))
	must(t, s.Insert(t.Context(), []vectorstore.Record{old}))
	awaitIDs(t, s, around(o, axis(0, 1)), old.ID)

	err := r.Rebuild(t.Context(), func(ctx context.Context, into vectorstore.Writer) error {
		must(t, into.Insert(ctx, []vectorstore.Record{kept}))
		return errStop
	})
	if err != errStop {
		t.Errorf("a fill that fails: %v, want its own error", err)
	}
	if got := idsOf(collect(t, s)); !slices.Equal(got, []string{old.ID}) {
		t.Errorf("after a fill that failed %q serve, want the old one", got)
	}

	// A search at any moment finds the old record or all of the new ones.
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
			t.Errorf("while it is filled %q serve, want the old one", got)
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
		t.Error("of two rebuilds at once the first to begin does not fail")
	}
	late := record(o, axis(0, 1))
	must(t, s.Insert(t.Context(), []vectorstore.Record{late}))
	var contents []string
	for _, r := range collect(t, s) {
		contents = append(contents, r.Content)
	}
	slices.Sort(contents)
	if !slices.Equal(contents, []string{"likes coffee", "likes tea", "likes tea"}) {
		t.Errorf("after the rebuild %q serve", contents)
	}
	awaitIDs(t, s, around(o, axis(0, 1)), kept.ID, changed.ID, late.ID)
	if m, ok := s.(vectorstore.Mender); !ok || m.Losses() != 1 || m.Ensure(t.Context()) != nil || m.Losses() != 1 {
		t.Error("the store is no vectorstore.Mender that counts its making alone")
	}
}
