package dbtest

import (
	"context"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func userZones(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: alice.AppID, UserID: "bob"}
	wantZone(t, s, memory.UserZone{Owner: alice})

	without, first, talk := newTurn(alice, ""), newTurn(alice, "first"), newTurn(alice, "talk")
	first.Offset = "-08:00"
	talk.ConversationID, talk.Offset = "talk", "+05:45"
	accepted(t, s, without)
	wantZone(t, s, memory.UserZone{Owner: alice})
	accepted(t, s, first)
	wantZone(t, s, memory.UserZone{Owner: alice, Offset: "-08:00"})
	stored, _, err := s.AcceptTurn(t.Context(), talk, epoch, nil)
	must(t, err)
	wantSame(t, "offset of the turn as it was stored", stored.Offset, "")
	wantZone(t, s, memory.UserZone{Owner: alice, Offset: "+05:45"})
	again := first // it is known
	again.ID, again.Offset = memory.NewID(), "+01:00"
	if _, fresh, err := s.AcceptTurn(t.Context(), again, epoch, nil); err != nil || fresh {
		t.Errorf("a known turn: fresh %t, %v", fresh, err)
	}
	same := newTurn(alice, "")
	same.Offset = "+05:45"
	accepted(t, s, same, newTurn(alice, ""))
	wantZone(t, s, memory.UserZone{Owner: alice, Offset: "+05:45"})

	chosen := memory.UserZone{Owner: alice, Chosen: "Asia/Kathmandu", Offset: "+05:45"}
	setZone(t, s, chosen)
	setZone(t, s, memory.UserZone{Owner: bob, Chosen: "Europe/Berlin"})
	same = newTurn(alice, "")
	same.Offset = "-03:00"
	accepted(t, s, same)
	chosen.Offset = "-03:00"
	wantZone(t, s, chosen)

	all := []memory.UserZone{chosen, {Owner: bob, Chosen: "Europe/Berlin"}}
	of := db.Extent{AppID: alice.AppID, Limit: 1}
	page, err := s.ExportUserZones(t.Context(), of, nil)
	must(t, err)
	wantSame(t, "the first page", page, all[:1])
	page, err = s.ExportUserZones(t.Context(), of, &page[0])
	must(t, err)
	wantSame(t, "the second page", page, all[1:])
	of.UserID = alice.UserID
	page, err = s.ExportUserZones(t.Context(), of, &chosen)
	must(t, err)
	wantSame(t, "after the only zone of a user", len(page), 0)

	setZone(t, s, memory.UserZone{Owner: bob})
	wantZone(t, s, memory.UserZone{Owner: bob})
	page, err = s.ExportUserZones(t.Context(), db.Extent{AppID: alice.AppID, UserID: "bob", Limit: 1}, nil)
	must(t, err)
	wantSame(t, "of a user of whom nothing is known any more", len(page), 0)
}

func setZone(t *testing.T, s db.Store, z memory.UserZone) {
	t.Helper()
	must(t, s.InUser(t.Context(), z.Owner, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.SetUserZone(ctx, z))
		recorded, err := tx.RecordedUserZone(ctx)
		wantSame(t, "the zone within the transaction", recorded, z)
		return err
	}))
}

func wantZone(t *testing.T, s db.Store, want memory.UserZone) {
	t.Helper()
	got, err := s.UserZone(t.Context(), want.Owner)
	must(t, err)
	wantSame(t, "zone of "+want.UserID, got, want)
}
