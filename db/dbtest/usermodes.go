package dbtest

import (
	"context"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func userSettings(t *testing.T, s db.Store) {
	userZones(t, s)
	userModes(t, s)
}

func userModes(t *testing.T, s db.Store) {
	namesake := memory.Owner{AppID: "other", UserID: alice.UserID}
	wantMode(t, s, alice, memory.ModeOn)

	setMode(t, s, alice, memory.ModeRead)
	wantMode(t, s, alice, memory.ModeRead)
	wantMode(t, s, bob, memory.ModeOn)
	wantMode(t, s, namesake, memory.ModeOn)
	setMode(t, s, bob, memory.ModeRead)
	setMode(t, s, namesake, memory.ModeRead)
	setMode(t, s, alice, memory.ModeOff)
	wantMode(t, s, alice, memory.ModeOff)
	wantMode(t, s, bob, memory.ModeRead)

	all := []memory.UserMode{{Owner: alice, Mode: memory.ModeOff}, {Owner: bob, Mode: memory.ModeRead}}
	of := db.Extent{AppID: alice.AppID, Limit: 1}
	page, err := s.ExportUserModes(t.Context(), of, nil)
	must(t, err)
	wantSame(t, "the first page", page, all[:1])
	page, err = s.ExportUserModes(t.Context(), of, &page[0])
	must(t, err)
	wantSame(t, "the second page", page, all[1:])
	setMode(t, s, alice, memory.ModeOn)
	wantMode(t, s, alice, memory.ModeOn)
	of.UserID = alice.UserID
	page, err = s.ExportUserModes(t.Context(), of, nil)
	must(t, err)
	wantSame(t, "of a user for whom memory is on", len(page), 0)
}

func setMode(t *testing.T, s db.Store, owner memory.Owner, mode memory.Mode) {
	t.Helper()
	must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.SetMode(ctx, mode))
		set, err := tx.RecordedMode(ctx)
		wantSame(t, "the mode within the transaction", set.Mode, mode)
		return err
	}))
}

func wantMode(t *testing.T, s db.Store, owner memory.Owner, mode memory.Mode) {
	t.Helper()
	want := memory.ModeSetting{Mode: mode}
	if mode != memory.ModeOn {
		want.Level = memory.LevelUser
	}
	got, err := s.ModeOf(t.Context(), owner)
	must(t, err)
	wantSame(t, "the mode of "+owner.UserID, got, want)
}

// exerciseModes runs every query about modes.
func exerciseModes(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	setMode(t, s, owner, memory.ModeOff)
	wantMode(t, s, owner, memory.ModeOff)
	for _, userID := range []string{"", owner.UserID} {
		_, err := s.ExportUserModes(t.Context(), db.Extent{AppID: owner.AppID, UserID: userID, Limit: 5},
			&memory.UserMode{Owner: memory.Owner{UserID: "a"}})
		must(t, err)
	}
	setMode(t, s, owner, memory.ModeOn)
}
