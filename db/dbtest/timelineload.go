package dbtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// everyTimeline calls each method of db.Timelines and returns their errors.
func everyTimeline(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	_, errs["ListFacts"] = s.ListFacts(ctx, db.FactFilter{Owner: alice, At: epoch, Limit: 1})
	_, errs["FactHistory"] = s.FactHistory(ctx, city, nil, 1)
	_, errs["DueFacts"] = s.DueFacts(ctx, epoch, db.Position{}, 1)
	return errs
}

// loadFacts is Load for db.Timelines: 20 facts on 4 timelines.
func loadFacts(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	var all []memory.Fact
	for i := range 20 {
		f := newFact(owner, fmt.Sprint("key", i%4), fmt.Sprint(i), after(i))
		f.ValidUntil = after(i + 1)
		if i == 0 {
			f.MemoryID = memory.NewID()
			f.EndsMemory = true
			f.Due = after(1)
		}
		all = append(all, f)
	}
	addFacts(t, s, all...)
}

// exerciseFacts is Exercise for db.Timelines.
func exerciseFacts(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	ctx := t.Context()
	before := &db.Position{At: after(10), ID: memory.NewID()}
	for _, f := range []db.FactFilter{
		{},
		{Before: before},
		{Key: "key1"},
		{Type: "profile"},
		{Type: "profile", Key: "key1"},
		{Type: "profile", Key: "key1", Before: before},
	} {
		f.Owner = owner
		f.Limit = 5
		for _, f.At = range []time.Time{after(9), {}} {
			_, err := s.ListFacts(ctx, f)
			must(t, err)
		}
	}
	timeline := db.Timeline{Owner: owner, Type: "profile", Key: "key0"}
	all := factsOf(t, s, timeline)
	_, err := s.FactHistory(ctx, timeline, before, 5)
	must(t, err)
	_, err = s.DueFacts(ctx, after(10), db.Position{}, 5)
	must(t, err)
	_, err = s.DueFacts(ctx, after(10), *before, 5)
	must(t, err)
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		_, _, err := tx.FactAt(ctx, "profile", "key0", after(9))
		must(t, err)
		_, err = tx.NextFact(ctx, "profile", "key0", after(9))
		must(t, err)
		_, _, err = tx.FactWithMemory(ctx, "profile", "key0")
		must(t, err)
		_, err = tx.FactsOf(ctx, []string{memory.NewID(), memory.NewID()})
		must(t, err)
		must(t, tx.AddFact(ctx, newFact(owner, "key0", `1`, after(99))))
		return tx.ChangeFact(ctx, all[0])
	}))
}
