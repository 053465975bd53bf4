package dbtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// newRecall returns an entry of the log, n seconds after epoch, with every field set.
func newRecall(owner memory.Owner, n int) memory.LoggedRecall {
	return memory.LoggedRecall{
		ID: memory.NewID(), Owner: owner, AgentID: "agent", Query: `她住哪？ "it's"`,
		Memories: []memory.LoggedMemory{
			{ID: memory.NewID(), Relevance: 1, Confidence: 0.5}, {ID: memory.NewID(), Relevance: 0.123456789},
		},
		Degraded: []string{"vector_store", "embedder"}, Took: 1234 * time.Microsecond, At: after(n),
	}
}

func recallsOf(t *testing.T, s db.Store, owner memory.Owner) []memory.LoggedRecall {
	t.Helper()
	all := []memory.LoggedRecall{}
	f := db.RecallFilter{Owner: owner, Limit: 2}
	for {
		page, err := s.ListRecalls(t.Context(), f)
		must(t, err)
		all = append(all, page...)
		if len(page) < f.Limit {
			return all
		}
		last := page[len(page)-1]
		f.Before = &db.Position{At: last.At, ID: last.ID}
	}
}

func logOfRecalls(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	var want []memory.LoggedRecall
	for i := range 5 {
		want = append(want, newRecall(alice, i/2)) // two share an instant
	}
	want[1].AgentID = ""
	want[1].Memories = nil
	want[1].Degraded = nil
	want[1].Took = 0
	want[4].Query = "holds a \x00 and \xff"
	bobs := newRecall(bob, 0)
	must(t, s.LogRecalls(t.Context(), nil))
	must(t, s.LogRecalls(t.Context(), append(slices.Clone(want), bobs)))
	want[4].Query = "holds a \uFFFD and \uFFFD"
	slices.Reverse(want) // ids ascend with time
	wantSame(t, "alice's recalls", recallsOf(t, s, alice), want)
	one, err := s.LoggedRecall(t.Context(), alice, want[0].ID)
	must(t, err)
	wantSame(t, "one of alice's", one, want[0])
	for _, id := range []string{bobs.ID, memory.NewID(), "no id"} {
		one, err = s.LoggedRecall(t.Context(), alice, id)
		must(t, err)
		wantSame(t, "not one of alice's", one, memory.LoggedRecall{})
	}
	wantSame(t, "bob's recalls", recallsOf(t, s, bob), []memory.LoggedRecall{bobs})
	wantSame(t, "of another app", recallsOf(t, s, memory.Owner{AppID: "other", UserID: "alice"}),
		[]memory.LoggedRecall{})
	wantKind(t, s.LogRecalls(t.Context(), want[:1]), memory.KindConflict)

	for _, deleted := range []int{2, 1, 0} { // bob's and two of alice's
		n, err := s.PurgeRecalls(t.Context(), after(1), 2)
		must(t, err)
		wantSame(t, "purged", n, deleted)
	}
	wantSame(t, "alice's after the purge", recallsOf(t, s, alice), want[:3])
}

// Entries that are written late bring nothing of an erased user back.
func logAndErasure(t *testing.T, s db.Store) {
	e := begin(t, s, alice)
	must(t, s.LogRecalls(t.Context(), []memory.LoggedRecall{newRecall(alice, 50), newRecall(alice, 150)}))
	eraseAll(t, s, e, 10)
	_, err := s.EndErasure(t.Context(), e, after(200), 0)
	must(t, err)
	later, bobs := newRecall(alice, 201), newRecall(memory.Owner{AppID: "app", UserID: "bob"}, 50)
	must(t, s.LogRecalls(t.Context(), []memory.LoggedRecall{
		newRecall(alice, 50), newRecall(alice, 150), newRecall(alice, 200), later, bobs,
	}))
	wantSame(t, "alice's recalls", recallsOf(t, s, alice), []memory.LoggedRecall{later})
	wantSame(t, "bob's recalls", recallsOf(t, s, bobs.Owner), []memory.LoggedRecall{bobs})
}

// loadRecalls is Load for the log of recalls: 80 entries.
func loadRecalls(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	var all []memory.LoggedRecall
	for i := range 80 {
		e := newRecall(owner, i)
		e.Query = fmt.Sprint("question ", i)
		all = append(all, e)
	}
	must(t, s.LogRecalls(t.Context(), all))
}

// exerciseRecalls is Exercise for db.Recalls.
func exerciseRecalls(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	page, err := s.ListRecalls(t.Context(), db.RecallFilter{Owner: owner, Limit: 5})
	must(t, err)
	last := page[4]
	_, err = s.ListRecalls(t.Context(), db.RecallFilter{
		Owner: owner, Limit: 5, Before: &db.Position{At: last.At, ID: last.ID},
	})
	must(t, err)
	_, err = s.LoggedRecall(t.Context(), owner, last.ID)
	must(t, err)
	must(t, s.LogRecalls(t.Context(), []memory.LoggedRecall{newRecall(owner, 0)}))
	_, err = s.PurgeRecalls(t.Context(), after(2), 5)
	must(t, err)
}
