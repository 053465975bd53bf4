package dbtest

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// logIsAsRead continues conversations only from the state that the caller has read.
func logIsAsRead(t *testing.T, s db.Store) {
	ctx := t.Context()
	refused := func(turn memory.Turn, log db.LogState) {
		t.Helper()
		_, fresh, err := s.AcceptTurn(ctx, turn, after(60), &log)
		if fresh || !errors.Is(err, db.ErrConversationChanged) {
			t.Errorf("log %+v: fresh %v, %v", log, fresh, err)
		}
	}
	accepted := func(turn memory.Turn, log db.LogState) memory.Turn {
		t.Helper()
		stored, fresh, err := s.AcceptTurn(ctx, turn, after(60), &log)
		must(t, err)
		wantSame(t, "fresh", fresh, true)
		return stored
	}
	none := db.LogState{}
	refused(talked(alice, "c", after(1), "one"), db.LogState{FirstTurnID: memory.NewID(), Events: 1})
	first := accepted(talked(alice, "c", after(1), "one", "two"), none)
	refused(talked(alice, "c", after(2), "three"), none)
	refused(talked(alice, "c", after(2), "three"), db.LogState{FirstTurnID: first.ID, Events: 1})
	second := accepted(talked(alice, "c", after(2), "three"), db.LogState{FirstTurnID: first.ID, Events: 2})
	wantSame(t, "first event", second.FirstEvent, int64(3))
	wantSame(t, "events", conversation(t, s, alice, "c").Events, int64(3))

	// The client id is checked first.
	named := talked(alice, "c", after(3), "four")
	named.ClientID = "named"
	accepted(named, db.LogState{FirstTurnID: first.ID, Events: 3})
	again := named
	again.ID = memory.NewID()
	stored, fresh, err := s.AcceptTurn(ctx, again, after(60), &db.LogState{FirstTurnID: first.ID, Events: 3})
	must(t, err)
	wantSame(t, "fresh", fresh, false)
	wantSame(t, "turn with the client's id", stored.ID, named.ID)

	if _, err := s.DeleteConversation(ctx, alice, "c"); err != nil {
		t.Fatal(err)
	}
	refused(talked(alice, "c", after(4), "five"), db.LogState{FirstTurnID: first.ID, Events: 4})
	accepted(talked(alice, "c", after(4), "five"), none)

	// Of concurrent turns that continue one state, one is stored.
	for name, log := range map[string]db.LogState{"begun by several": none, "c": {
		FirstTurnID: conversation(t, s, alice, "c").FirstTurnID, Events: 1,
	}} {
		var group errgroup.Group
		stored := make([]bool, 8)
		for i := range stored {
			group.Go(func() (err error) {
				_, stored[i], err = s.AcceptTurn(ctx, talked(alice, name, after(5), fmt.Sprint(i)), after(60), &log)
				if errors.Is(err, db.ErrConversationChanged) {
					err = nil
				}
				return err
			})
		}
		must(t, group.Wait())
		n := 0
		for _, ok := range stored {
			if ok {
				n++
			}
		}
		wantSame(t, name+": stored turns", n, 1)
		wantSame(t, name+": events", conversation(t, s, alice, name).Events, log.Events+1)
	}
}
