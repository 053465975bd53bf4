package dbtest

import (
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// shelfLives counts the active memories that have an end, of an app and of a user.
func shelfLives(t *testing.T, s db.Store) {
	app := memory.Owner{AppID: "shelf lives"}
	ada, bob := memory.Owner{AppID: app.AppID, UserID: "ada"}, memory.Owner{AppID: app.AppID, UserID: "bob"}
	write := func(owner memory.Owner, content string, end time.Time, status memory.Status) {
		m := newMemory(owner, content)
		m.ExpiresAt, m.Status = end, status
		insert(t, s, time.Time{}, m)
	}
	write(ada, "no end", time.Time{}, memory.Active)
	write(ada, "has ended", after(10), memory.Active)
	write(ada, "has ended, forgotten", after(10), memory.Forgotten)
	write(ada, "ends", after(30), memory.Active)
	write(bob, "ends", after(20), memory.Active)
	write(alice, "has ended", after(10), memory.Active)
	for name, c := range map[string]struct {
		of   memory.Owner
		at   time.Time
		want db.ShelfLives
	}{
		"of the app":              {app, after(15), db.ShelfLives{Limited: 3, Ended: 1}},
		"of the app, from an end": {app, after(20), db.ShelfLives{Limited: 3, Ended: 2}},
		"of a user":               {ada, after(20), db.ShelfLives{Limited: 2, Ended: 1}},
		"of nobody":               {memory.Owner{AppID: app.AppID, UserID: "nobody"}, after(20), db.ShelfLives{}},
	} {
		got, err := s.ShelfLives(t.Context(), c.of, c.at)
		must(t, err)
		wantSame(t, name, got, c.want)
	}
}
