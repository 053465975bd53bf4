package dbtest

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func condensedFacts(t *testing.T, s db.Store) {
	var all, want []memory.Memory
	for i := range 30 {
		m := newMemory(alice, describe(i))
		m.Type, m.UpdatedAt, m.Status = memory.Types[i%len(memory.Types)], after(i/3), memory.Consolidated
		if i%5 == 4 {
			m.Status = memory.Statuses[i/5%len(memory.Statuses)]
		}
		all = append(all, m)
		if m.Status == memory.Consolidated && m.Type != memory.TypeMessage && !m.Type.IsDerived() {
			want = append(want, bare(m))
		}
	}
	insert(t, s, time.Time{}, all...)
	others := newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's")
	others.Status = memory.Consolidated
	insert(t, s, time.Time{}, others)
	slices.SortFunc(want, func(a, b memory.Memory) int {
		return -cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, limit := range []int{1, 7, 100} {
		got, err := s.CondensedFacts(t.Context(), alice, limit)
		must(t, err)
		wantSame(t, "condensed facts", got, want[:min(limit, len(want))])
		var times []db.Position
		for _, m := range want[:min(limit, len(want))] {
			times = append(times, db.Position{At: m.UpdatedAt, ID: m.ID})
		}
		read, err := s.CondensedTimes(t.Context(), alice, limit)
		must(t, err)
		wantSame(t, "times of condensed facts", read, times)
	}
}

// standIns checks which memories StandIns reads: the given ones, and the other sources of what was derived from them.
func standIns(t *testing.T, s db.Store) {
	made := map[string]*memory.Memory{}
	add := func(name string, of memory.Type, status memory.Status, from ...string) {
		m := newMemory(alice, name)
		m.Type, m.Status = of, status
		made[name] = &m
		insert(t, s, epoch, m)
		must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
			var relations []memory.Relation
			for _, source := range from {
				relations = append(relations, memory.Relation{
					From: m.ID, Kind: memory.DerivedFrom, To: made[source].ID, CreatedAt: epoch,
				})
			}
			return tx.AddRelations(ctx, relations)
		}))
	}
	add("home", memory.TypeFact, memory.Consolidated)
	add("work", memory.TypeFact, memory.Consolidated)
	add("dog", memory.TypeFact, memory.Active)
	add("cat", memory.TypeFact, memory.Forgotten)
	add("other", memory.TypeFact, memory.Consolidated)
	add("insight", memory.TypeReflection, memory.Active, "home", "work", "cat")
	add("summary", memory.TypeSummary, memory.Active, "work", "dog")
	add("gone", memory.TypeReflection, memory.Forgotten, "home")
	add("fact", memory.TypeFact, memory.Active, "home")
	read := func(names ...string) (found map[string]db.StandIn) {
		found = map[string]db.StandIn{}
		must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
			var ids []string
			for _, name := range names {
				ids = append(ids, made[name].ID)
			}
			all, err := tx.StandIns(ctx, ids)
			for _, one := range all {
				for name, m := range made {
					if m.ID == one.ID {
						found[name] = one
					}
				}
			}
			if len(found) != len(all) {
				t.Errorf("%d of %d memories are known", len(found), len(all))
			}
			return err
		}))
		return found
	}
	want := func(what string, got map[string]db.StandIn, want map[string][2][]string) {
		t.Helper()
		for name, one := range got {
			ids := func(names []string) (ids []string) {
				for _, name := range names {
					ids = append(ids, made[name].ID)
				}
				slices.Sort(ids)
				return ids
			}
			wantSame(t, what+": "+name, one, db.StandIn{
				ID: made[name].ID, Status: made[name].Status, Current: ids(want[name][0]), Former: ids(want[name][1]),
			})
		}
		wantSame(t, what+": number", len(got), len(want))
	}
	current := func(names ...string) [2][]string { return [2][]string{names, nil} }
	want("of a source", read("dog"), map[string][2][]string{
		"work": current("insight", "summary"), "dog": current("summary"),
	})
	want("of an insight", read("insight"), map[string][2][]string{
		"home": current("insight"), "work": current("insight", "summary"), "insight": {},
	})
	want("of a memory alone", read("other"), map[string][2][]string{"other": {}})
	want("of no memory", read(), map[string][2][]string{})

	made["home"].Status, made["home"].SupersededBy = memory.Superseded, made["fact"].ID
	made["home"].Revision++
	update(t, s, *made["home"])
	want("of a superseded source", read("home"), map[string][2][]string{"work": {{"summary"}, {"insight"}}})

	for _, kind := range []memory.RelationKind{memory.Refines, memory.Contradicts} {
		made["summary"].Status, made["summary"].SupersededBy = memory.Superseded, made["fact"].ID
		made["summary"].Revision++
		update(t, s, *made["summary"])
		must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
			return tx.AddRelations(ctx, []memory.Relation{
				{From: made["fact"].ID, Kind: kind, To: made["summary"].ID, CreatedAt: epoch},
			})
		}))
		of := map[memory.RelationKind][2][]string{memory.Contradicts: {nil, {"summary"}}}[kind]
		want("of a source of a summary that another memory "+string(kind), read("dog"), map[string][2][]string{
			"dog": of, "work": {nil, append([]string{"insight"}, of[1]...)},
		})
	}

	_, err := s.SetTarget(t.Context(), memory.Space{Model: "another", Dim: 4}, epoch)
	must(t, err)
	if foreign := read("dog"); !foreign["dog"].IsForeign || !foreign["work"].IsForeign {
		t.Errorf("with another model: %+v", foreign)
	}
}
