package dbtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// changesOf reads all changes of alice after a revision.
func changesOf(t *testing.T, s db.Store, after int64) db.Changes {
	t.Helper()
	read, err := s.Changes(t.Context(), alice, after, epoch, 10)
	must(t, err)
	return read
}

// changes checks that every change of the owner's documents is read after the revision
// before it, and nothing else.
func changes(t *testing.T, s db.Store) {
	other := memory.Owner{AppID: alice.AppID, UserID: alice.UserID + "'"}
	empty := db.Changes{Revision: 1, All: true, Documents: []db.Document{}}
	wantSame(t, "an owner without memories", changesOf(t, s, 0), empty)
	last := int64(1)
	changed := func(what string, active, gone []string) {
		t.Helper()
		read := changesOf(t, s, last)
		found := []string{}
		for _, d := range read.Documents {
			found = append(found, d.ID)
		}
		wantSame(t, what+": changed", slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(active)))
		wantSame(t, what+": gone", slices.Sorted(slices.Values(read.Gone)), slices.Sorted(slices.Values(gone)))
		if read.All || (read.Revision > last) != (len(active)+len(gone) > 0) {
			t.Errorf("%s: revision %d after %d, all: %v", what, read.Revision, last, read.All)
		}
		documents, err := s.Documents(t.Context(), alice)
		must(t, err)
		for _, d := range read.Documents {
			if i := slices.IndexFunc(documents, func(other db.Document) bool { return other.ID == d.ID }); i >= 0 {
				wantSame(t, what+": a changed document", d, documents[i])
			}
		}
		wantSame(t, what+": all documents", changesOf(t, s, 0).Documents, documents)
		last = read.Revision
	}
	a, b := newMemory(alice, "a"), newMemory(alice, "b")
	b.Type = memory.TypeMessage
	insert(t, s, time.Time{}, a, b)
	changed("an insert", []string{a.ID, b.ID}, nil)
	insert(t, s, time.Time{}, newMemory(other, "c"))
	changed("an insert of another owner", nil, nil)
	must(t, s.Touch(t.Context(), []db.Touch{{Owner: a.Owner, ID: a.ID, Count: 1, At: after(1)}}))
	changed("a touch", nil, nil)
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: a}, {Memory: b}}, after(1)))
	changed("confirmed pushes", nil, nil)
	in := func(f func(ctx context.Context, tx db.UserTx) error) error {
		return s.InUser(t.Context(), alice, f)
	}
	must(t, in(func(ctx context.Context, tx db.UserTx) error {
		_, err := tx.Memories(ctx, []string{a.ID})
		return err
	}))
	changed("reading", nil, nil)
	errRefused := errors.New("refused")
	err := in(func(ctx context.Context, tx db.UserTx) error {
		return errors.Join(tx.Insert(ctx, []memory.Memory{newMemory(alice, "d")}, time.Time{}), errRefused)
	})
	if !errors.Is(err, errRefused) {
		t.Errorf("a refused transaction returned %v", err)
	}
	changed("a rollback", nil, nil)

	taken := memory.Relation{From: a.ID, Kind: memory.DerivedFrom, To: b.ID, CreatedAt: epoch}
	must(t, in(func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{taken})
	}))
	changed("a source, which is a message", []string{a.ID, b.ID}, nil)
	a.Content, a.Revision, a.UpdatedAt = "another", 2, after(2)
	update(t, s, a)
	changed("an update", []string{a.ID}, nil)
	b.Content, b.Revision, b.UpdatedAt = "another", 2, after(2)
	update(t, s, b)
	changed("an update of a message", []string{a.ID, b.ID}, nil)
	must(t, in(func(ctx context.Context, tx db.UserTx) error { return tx.RemoveRelation(ctx, taken) }))
	changed("the removal of a source", []string{a.ID, b.ID}, nil)
	before := last
	a.Status, a.Revision = memory.Forgotten, 3
	update(t, s, a)
	changed("forgetting a memory", nil, []string{a.ID})
	wantSame(t, "two changes", changesOf(t, s, before).Gone, []string{a.ID})

	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: a, Remove: true}}, after(3)))
	must(t, in(func(ctx context.Context, tx db.UserTx) error {
		_, err := tx.Purge(ctx, []string{a.ID})
		return err
	}))
	changed("a purge of what was gone", nil, nil)
	for name, unknown := range map[string]int64{"from before the purged memory": before, "from the future": last + 1000} {
		if read := changesOf(t, s, unknown); !read.All || len(read.Documents) != 1 || read.Revision < last {
			t.Errorf("after a revision %s: %+v", name, read)
		}
	}

	e, err := s.BeginErasure(t.Context(), alice, after(4), after(5), eraseUser{alice.AppID, alice.UserID})
	must(t, err)
	_, err = s.EraseSome(t.Context(), e, db.EraseStep{Now: after(4), Limit: 10})
	must(t, err)
	if read := changesOf(t, s, last); !read.All || len(read.Documents) != 0 || read.Revision <= last {
		t.Errorf("after an erasure: %+v", read)
	}
}

// unconfirmedChanges checks that Changes reads what Unconfirmed does.
func unconfirmedChanges(t *testing.T, s db.Store) {
	a, b := newMemory(alice, "a"), newMemory(alice, "b")
	insert(t, s, time.Time{}, a, b)
	revision := changesOf(t, s, 0).Revision
	for _, known := range []int64{0, revision} {
		same, err := s.Unconfirmed(t.Context(), alice, epoch, 10)
		must(t, err)
		wantSame(t, "unconfirmed", changesOf(t, s, known).Unconfirmed, same)
	}
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: a}, {Memory: b}}, after(1)))
	for _, known := range []int64{0, revision} {
		for since, want := range map[int][]string{0: {a.ID, b.ID}, 1: {a.ID, b.ID}, 2: {}} {
			read, err := s.Changes(t.Context(), alice, known, after(since), 10)
			must(t, err)
			wantSame(t, fmt.Sprintf("confirmed since %d", since), slices.Sorted(slices.Values(ids(read.Unconfirmed))),
				slices.Sorted(slices.Values(want)))
		}
	}
}
