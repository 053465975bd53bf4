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

// revisions checks that the revision changes with every change of the owner's
// memories and with nothing else.
func revisions(t *testing.T, s db.Store) {
	other := memory.Owner{AppID: alice.AppID, UserID: alice.UserID + "'"}
	last, own, err := s.RevisionAndUnconfirmed(t.Context(), alice, epoch, 10)
	must(t, err)
	if last != 0 || len(own) != 0 {
		t.Errorf("an owner without memories has revision %d and %v", last, own)
	}
	seen := map[int64]bool{0: true}
	revised := func(what string, want bool) {
		t.Helper()
		now, _, err := s.RevisionAndUnconfirmed(t.Context(), alice, epoch, 10)
		must(t, err)
		switch {
		case want && seen[now]:
			t.Errorf("%s reuses an earlier revision", what)
		case !want && now != last:
			t.Errorf("%s changes the revision", what)
		}
		last, seen[now] = now, true
	}
	a, b := newMemory(alice, "a"), newMemory(alice, "b")
	insert(t, s, time.Time{}, a, b)
	revised("an insert", true)

	_, own, err = s.RevisionAndUnconfirmed(t.Context(), alice, epoch, 10)
	must(t, err)
	same, err := s.Unconfirmed(t.Context(), alice, epoch, 10)
	must(t, err)
	wantSame(t, "unconfirmed", own, same)
	documents, err := s.Documents(t.Context(), alice)
	must(t, err)
	read, err := s.RevisionDocumentsAndUnconfirmed(t.Context(), alice, epoch, 10)
	must(t, err)
	wantSame(t, "revision, documents and unconfirmed", read, db.OwnerDocuments{
		Revision:    last,
		Documents:   documents,
		Unconfirmed: own,
	})

	insert(t, s, time.Time{}, newMemory(other, "c"))
	revised("an insert of another owner", false)
	must(t, s.Touch(t.Context(), []db.Touch{{ID: a.ID, Count: 1, At: after(1)}}))
	revised("a touch", false)
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: a}}, after(1)))
	revised("a confirmed push", false)
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: b}}, after(1)))
	for since, want := range map[int][]string{0: {a.ID, b.ID}, 1: {a.ID, b.ID}, 2: {}} {
		_, own, err = s.RevisionAndUnconfirmed(t.Context(), alice, after(since), 10)
		must(t, err)
		wantSame(t, fmt.Sprintf("confirmed since %d", since), slices.Sorted(slices.Values(ids(own))),
			slices.Sorted(slices.Values(want)))
	}
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		_, err := tx.Memories(ctx, []string{a.ID})
		return err
	}))
	revised("reading", false)
	errRefused := errors.New("refused")
	err = s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return errors.Join(tx.Insert(ctx, []memory.Memory{newMemory(alice, "d")}, time.Time{}), errRefused)
	})
	if !errors.Is(err, errRefused) {
		t.Errorf("a refused transaction returned %v", err)
	}
	revised("a rollback", false)

	a.Content = "another"
	a.Revision = 2
	a.UpdatedAt = after(2)
	update(t, s, a)
	revised("an update", true)
	a.Status, a.Revision = memory.Forgotten, 3
	update(t, s, a)
	revised("forgetting a memory", true)
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: a, Remove: true}}, after(3)))
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		_, err := tx.Purge(ctx, []string{a.ID})
		return err
	}))
	revised("a purge", true)

	e, err := s.BeginErasure(t.Context(), alice, after(4), after(5), eraseUser{alice.AppID, alice.UserID})
	must(t, err)
	_, err = s.EraseSome(t.Context(), e, db.EraseStep{Now: after(4), Limit: 10})
	must(t, err)
	revised("an erasure", true)
}
