package vectortest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// testDeleteOwner checks that DeleteOwner removes all records of one owner and no
// others, for any ids.
func testDeleteOwner(t *testing.T, s vectorstore.Store) {
	const names = 40
	held := map[memory.Owner][]string{}
	var records []vectorstore.Record
	add := func(o memory.Owner) {
		r := record(o, axis(3, 1))
		records, held[o] = append(records, r), append(held[o], r.ID)
	}
	for seed := range names {
		o := hostileOwner().Example(seed)
		o.AppID = "erased-" + o.AppID[:min(len(o.AppID), 1)] // few apps, so that users of several apps share an id
		if memory.CheckID(o.AppID, false) != "" {
			o.AppID = "erased"
		}
		for range seed%3 + 1 {
			add(o)
		}
		add(memory.Owner{AppID: "erased-too", UserID: o.UserID})
	}
	must(t, s.Insert(t.Context(), records))
	expect := func(action string, o memory.Owner, want int, f func(context.Context, memory.Owner) (int, error)) error {
		n, err := f(t.Context(), o)
		if err == nil && n != want {
			err = fmt.Errorf("%d records, want %d", n, want)
		}
		if err != nil {
			return fmt.Errorf("%s of %q: %w", action, o, err)
		}
		return nil
	}
	holds := func(o memory.Owner, ids []string) error { return expect("counting those", o, len(ids), s.CountOwner) }
	gone := map[memory.Owner][]string{}
	for o, ids := range held {
		if len(gone) < len(held)/2 {
			gone[o] = ids
		}
	}
	eachOf(t, gone, func(o memory.Owner, ids []string) error {
		return errors.Join(holds(o, ids), expect("deleting those", o, len(ids), s.DeleteOwner),
			expect("deleting those again", o, 0, s.DeleteOwner))
	})
	for o := range gone {
		held[o] = nil
	}
	eachOf(t, held, holds)
	for _, invalid := range []memory.Owner{{}, {AppID: "a"}, {UserID: "u"}, {AppID: "a", UserID: "u\n"}} {
		if _, err := s.DeleteOwner(t.Context(), invalid); !memory.IsKind(err, memory.KindInvalid) {
			t.Errorf("deleting the records of %q: %v, want an error of kind invalid", invalid, err)
		}
		if _, err := s.CountOwner(t.Context(), invalid); !memory.IsKind(err, memory.KindInvalid) {
			t.Errorf("counting the records of %q: %v, want an error of kind invalid", invalid, err)
		}
	}
}

// testDeleteManyOfOwner deletes more records than a store reads at once.
func testDeleteManyOfOwner(t *testing.T, s vectorstore.Store) {
	const n = 2500
	o := owner()
	var records []vectorstore.Record
	for range n {
		records = append(records, record(o, axis(4, 1)))
	}
	for part := range slices.Chunk(records, 500) {
		must(t, s.Insert(t.Context(), part))
	}
	if held, err := s.CountOwner(t.Context(), o); err != nil || held != n {
		t.Errorf("%d records are held, %v", held, err)
	}
	if deleted, err := s.DeleteOwner(t.Context(), o); err != nil || deleted != n {
		t.Errorf("%d records are deleted, %v", deleted, err)
	}
	if held, err := s.CountOwner(t.Context(), o); err != nil || held != 0 {
		t.Errorf("%d records are left, %v", held, err)
	}
}

// DeleteOwnerInRebuild checks, for an empty store that is a vectorstore.Rebuilder,
// that DeleteOwner during a rebuild also deletes from the new collection.
func DeleteOwnerInRebuild(t *testing.T, s vectorstore.Store) {
	t.Helper()
	r, ok := s.(vectorstore.Rebuilder)
	if !ok {
		t.Fatal("the store is not a vectorstore.Rebuilder")
	}
	gone, stays := owner(), owner()
	records := []vectorstore.Record{record(gone, axis(0, 1)), record(stays, axis(0, 1))}
	must(t, s.Insert(t.Context(), records))
	erase := func(want int) {
		t.Helper()
		if n, err := s.DeleteOwner(t.Context(), gone); err != nil || n != want {
			t.Errorf("%d records are deleted, %v, want %d", n, err, want)
		}
		if n, err := s.CountOwner(t.Context(), gone); err != nil || n != 0 {
			t.Errorf("%d records are left, %v", n, err)
		}
	}
	must(t, r.Rebuild(t.Context(), func(ctx context.Context, into vectorstore.Writer) error {
		must(t, into.Insert(ctx, records))
		if n, err := s.CountOwner(ctx, gone); err != nil || n != 2 {
			t.Errorf("%d records are held in both collections, %v", n, err)
		}
		erase(2)
		return nil
	}))
	erase(0)
	if left := idsOf(collect(t, s)); !slices.Equal(left, []string{records[1].ID}) {
		t.Errorf("after the rebuild the store holds %q", left)
	}
	failed := errors.New("the process dies")
	err := r.Rebuild(t.Context(), func(context.Context, vectorstore.Writer) error { return failed })
	if err != failed { //nolint:errorlint // the contract returns the error unchanged
		t.Error(err)
	}
	erase(0)
}
