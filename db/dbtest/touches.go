package dbtest

import (
	"fmt"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func touchAndHandedOut(t *testing.T, s db.Store) {
	a := newMemory(alice, "a")
	b := newMemory(alice, "b")
	c := newMemory(alice, "c")
	gone := newMemory(alice, "gone")
	gone.Status = memory.Forgotten
	c.LastAccessedAt = after(1000) // later than any touch, but never touched
	insert(t, s, time.Time{}, a, b, c, gone)
	must(t, s.Touch(t.Context(), []db.Touch{
		{Owner: a.Owner, ID: a.ID, Count: 2, At: after(20)},
		{Owner: b.Owner, ID: b.ID, Count: 1, At: after(30)},
		{Owner: gone.Owner, ID: gone.ID, Count: 1, At: after(30)},
		{Owner: a.Owner, ID: a.ID, Count: 3, At: after(10)},
		{Owner: alice, ID: memory.NewID(), Count: 1, At: after(30)},
		{Owner: alice, ID: "no id", Count: 1, At: after(30)},
		{Owner: memory.Owner{AppID: alice.AppID, UserID: "other"}, ID: c.ID, Count: 1, At: after(30)},
	}))
	must(t, s.Touch(t.Context(), []db.Touch{{Owner: b.Owner, ID: b.ID, Count: 1, At: after(-30)}}))
	must(t, s.Touch(t.Context(), nil))
	a.AccessCount, a.LastAccessedAt = 5, after(20)
	b.AccessCount, b.LastAccessedAt = 2, after(30)
	for since, want := range map[int][]memory.Memory{
		0:  {bare(b), bare(a)},
		20: {bare(b), bare(a)},
		21: {bare(b)},
		31: {},
	} {
		got, err := s.HandedOut(t.Context(), alice, after(since), 10)
		must(t, err)
		wantSame(t, fmt.Sprint("since ", since), got, want)
	}
	got, err := s.HandedOut(t.Context(), alice, epoch, 1)
	must(t, err)
	wantSame(t, "limited", ids(got), []string{b.ID})
	m, err := s.Memory(t.Context(), "app", a.ID)
	must(t, err)
	wantSame(t, "revision and update time stay", m, bare(a))
}

// touchInAChange checks that a touch between the read and the write of a change is
// not lost.
func touchInAChange(t *testing.T, s db.Store) {
	m := newMemory(alice, "read")
	insert(t, s, time.Time{}, m)
	must(t, s.Touch(t.Context(), []db.Touch{{Owner: m.Owner, ID: m.ID, Count: 3, At: after(20)}}))
	changed := m
	changed.Importance = 0.5
	changed.AccessCount = 0
	changed.LastAccessedAt = after(10)
	update(t, s, changed)
	got, err := s.Memory(t.Context(), "app", m.ID)
	must(t, err)
	changed.AccessCount, changed.LastAccessedAt = 3, after(20)
	wantSame(t, "changed and touched", got, bare(changed))
	changed.AccessCount, changed.LastAccessedAt = 9, after(30) // like a restored memory
	update(t, s, changed)
	got, err = s.Memory(t.Context(), "app", m.ID)
	must(t, err)
	changed.AccessCount = 3
	wantSame(t, "last access moved forward", got, bare(changed))
}
