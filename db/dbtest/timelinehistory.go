package dbtest

import (
	"fmt"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func factHistory(t *testing.T, s db.Store) {
	var all []memory.Fact
	for i := range 9 {
		f := newFact(alice, "city", fmt.Sprint(i), after(100-i))
		f.State, f.RecordedAt = memory.FactStates[1+i%3], after(i/3) // confirmed, replaced, refused
		all = append(all, f)
	}
	addFacts(t, s, all...)
	addFacts(t, s, newFact(alice, "town", `1`, epoch))
	for _, limit := range []int{1, 2, 9, 100} {
		var got []memory.Fact
		var last *db.Position
		for {
			page, err := s.FactHistory(t.Context(), city, last, limit)
			must(t, err)
			got = append(got, page...)
			if len(page) < limit {
				break
			}
			last = &db.Position{At: page[limit-1].RecordedAt, ID: page[limit-1].ID}
		}
		wantSame(t, "history", got, all)
	}
	for _, timeline := range []db.Timeline{
		{Owner: alice, Type: "profile", Key: "City"},
		{Owner: memory.Owner{AppID: "app", UserID: "bob"}, Type: "profile", Key: "city"},
		{Owner: memory.Owner{AppID: "other", UserID: "alice"}, Type: "profile", Key: "city"},
	} {
		wantSame(t, "another timeline", factsOf(t, s, timeline), []memory.Fact{})
	}
}

func dueFacts(t *testing.T, s db.Store) {
	var all []memory.Fact
	for i := range 7 {
		f := newFact(memory.Owner{AppID: fmt.Sprint("app", i%3), UserID: fmt.Sprint("user", i)}, "city", `1`, epoch)
		f.Due = after(i / 2)
		addFacts(t, s, f)
		all = append(all, f)
	}
	addFacts(t, s, newFact(alice, "city", `1`, epoch)) // never due
	for now, want := range map[int]int{-1: 0, 0: 2, 1: 4, 2: 6, 3: 7, 99: 7} {
		for _, limit := range []int{1, 2, 100} {
			var got []memory.Fact
			var last db.Position
			for {
				page, err := s.DueFacts(t.Context(), after(now), last, limit)
				must(t, err)
				got = append(got, page...)
				if len(page) < limit {
					break
				}
				last = db.Position{At: page[limit-1].Due, ID: page[limit-1].ID}
			}
			wantSame(t, fmt.Sprint("due at ", now), got, all[:want])
		}
	}
}
