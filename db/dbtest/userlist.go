package dbtest

import (
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func users(t *testing.T, s db.Store) {
	count := func(user string, n int) db.UserCount {
		owner := memory.Owner{AppID: "app", UserID: user}
		for i := range n {
			m := newMemory(owner, describe(i))
			m.CreatedAt = after(i)
			insert(t, s, time.Time{}, m)
		}
		gone := newMemory(owner, "gone")
		gone.Status, gone.CreatedAt = memory.Forgotten, after(99)
		insert(t, s, time.Time{}, gone)
		return db.UserCount{UserID: user, Memories: n, First: epoch, Last: after(n - 1)}
	}
	want := []db.UserCount{count("Zoë", 1), count("ada", 3), count("bob", 2), count("茶", 1)}
	want[0].First, want[3].First = want[0].Last, want[3].Last
	count("absent", 0)
	insert(t, s, time.Time{}, newMemory(memory.Owner{AppID: "other", UserID: "eve"}, "d"))
	for _, limit := range []int{1, 2, 4, 5} {
		got, last := []db.UserCount{}, ""
		for {
			page, err := s.Users(t.Context(), db.UserFilter{AppID: "app", After: last, Limit: limit})
			must(t, err)
			got = append(got, page...)
			if len(page) < limit {
				break
			}
			last = page[limit-1].UserID
		}
		wantSame(t, "users", got, want)
	}
}

func userSearch(t *testing.T, s db.Store) {
	for _, user := range []string{"a", "ad", "ada", "adb", "ae", "ad\u00ff", "ad茶", "ad🍵"} {
		insert(t, s, time.Time{}, newMemory(memory.Owner{AppID: "app", UserID: user}, "d"))
	}
	for prefix, want := range map[string][]string{
		"ad": {"ad", "ada", "adb", "adÿ", "ad茶", "ad🍵"}, "ad茶": {"ad茶"}, "b": {}, "ae": {"ae"},
	} {
		found, err := s.Users(t.Context(), db.UserFilter{AppID: "app", Prefix: prefix, Limit: 9})
		must(t, err)
		got := []string{}
		for _, u := range found {
			got = append(got, u.UserID)
		}
		wantSame(t, "users with the prefix "+prefix, got, want)
	}
	rest, err := s.Users(t.Context(), db.UserFilter{AppID: "app", Prefix: "ad", After: "adb", Limit: 1})
	must(t, err)
	wantSame(t, "users with a prefix after another", len(rest) == 1 && rest[0].UserID == "adÿ", true)
}

func userHoldings(t *testing.T, s db.Store) {
	none, err := s.UserHoldings(t.Context(), alice)
	must(t, err)
	wantSame(t, "what is kept of an unknown user", none, db.UserHoldings{Memories: map[memory.Status]int{}})
	gone := newMemory(alice, "茶")
	gone.Status = memory.Forgotten
	insert(t, s, time.Time{}, newMemory(alice, "tea"), newMemory(alice, "jam"), gone)
	insert(t, s, time.Time{}, newMemory(memory.Owner{AppID: alice.AppID, UserID: "eve"}, "d"))
	for i := range 3 {
		turn := newTurn(alice, "")
		turn.AcceptedAt = after(i)
		accepted(t, s, turn)
	}
	held, err := s.UserHoldings(t.Context(), alice)
	must(t, err)
	wantSame(t, "what is kept of a user", held, db.UserHoldings{
		Memories: map[memory.Status]int{memory.Active: 2, memory.Forgotten: 1}, Bytes: 9, Turns: 3, LastTurn: after(2),
	})
	listed, err := s.Users(t.Context(), db.UserFilter{AppID: alice.AppID, Prefix: alice.UserID, Limit: 1})
	must(t, err)
	wantSame(t, "the newest turn of a listed user", listed[0].LastTurn, after(2))
}
