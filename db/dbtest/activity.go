package dbtest

import (
	"context"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// day is the number of the day of epoch.
var day = db.DayOf(epoch)

func activeDays(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: alice.AppID, UserID: "bob"}
	wantActive(t, s, alice, db.ActiveDays{})

	said := newTurn(alice, "") // at the end of a day, with an agent
	said.AcceptedAt = db.Midnight(day + 1).Add(-time.Microsecond)
	next := newTurn(alice, "next") // in a conversation, without an agent, reported long after it was said
	next.AgentID, next.ConversationID, next.AcceptedAt = "", "talk", db.Midnight(day+1)
	accepted(t, s, said, next)
	again := next
	again.AcceptedAt = db.Midnight(day + 9)
	if _, fresh, err := s.AcceptTurn(t.Context(), again, epoch, nil); err != nil || fresh {
		t.Errorf("a known turn: fresh %t, %v", fresh, err)
	}
	want := db.ActiveDays{"": {day, day + 1}, "agent": {day}}
	wantActive(t, s, alice, want)

	within := newTurn(alice, "")
	within.AgentID, within.AcceptedAt = "另一个", db.Midnight(day+2)
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		for _, at := range []time.Time{epoch, db.Midnight(day + 4), db.Midnight(day + 3), db.Midnight(day + 3)} {
			must(t, tx.NoteActivity(ctx, "", at))
		}
		_, _, err := tx.AcceptTurn(ctx, within, epoch, nil)
		return err
	}))
	want[""] = []int{day, day + 1, day + 2, day + 3, day + 4}
	want["另一个"] = []int{day + 2}
	wantActive(t, s, alice, want)

	shared, private, idle := newMemory(bob, "shared"), newMemory(bob, "private"), newMemory(bob, "idle")
	shared.AgentID, private.AgentID = "", "agent"
	insert(t, s, time.Time{}, shared, private, idle)
	wantActive(t, s, bob, db.ActiveDays{})
	touch := func(m memory.Memory, n int) db.Touch {
		return db.Touch{Owner: m.Owner, ID: m.ID, Count: 1, At: db.Midnight(day + n)}
	}
	foreign := touch(idle, 7)
	foreign.Owner.UserID = "nobody"
	must(t, s.Touch(t.Context(), []db.Touch{touch(shared, 1), touch(private, 2), touch(shared, 2), foreign}))
	must(t, s.Touch(t.Context(), []db.Touch{touch(shared, 3)}))
	wantActive(t, s, bob, db.ActiveDays{"": {day + 2, day + 3}, "agent": {day + 2}})
	wantActive(t, s, alice, want)

	var all []string
	must(t, s.AppActiveDays(t.Context(), alice.AppID, func(userID, agentID string, _ int) error {
		all = append(all, userID+"/"+agentID)
		return nil
	}))
	wantSame(t, "of the app", all, []string{
		"alice/", "alice/", "alice/", "alice/", "alice/", "alice/agent", "alice/另一个", "bob/", "bob/", "bob/agent",
	})
	must(t, s.AppActiveDays(t.Context(), "other", func(string, string, int) error {
		t.Error("another app has active days")
		return nil
	}))
}

func wantActive(t *testing.T, s db.Store, owner memory.Owner, want db.ActiveDays) {
	t.Helper()
	got, err := s.ActiveDays(t.Context(), owner)
	must(t, err)
	wantSame(t, "active days of "+owner.UserID, got, want)
}
