package dbtest

import (
	"context"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// relate adds relations in a transaction of the owner.
func relate(t *testing.T, s db.Store, owner memory.Owner, relations ...memory.Relation) error {
	t.Helper()
	return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, relations)
	})
}

func relations(t *testing.T, s db.Store) {
	a := newMemory(alice, "a")
	b := newMemory(alice, "b")
	c := newMemory(alice, "c")
	b.Status = memory.Superseded
	insert(t, s, time.Time{}, a, b, c)
	foreign := newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's")
	elsewhere := newMemory(memory.Owner{AppID: "other", UserID: "alice"}, "other")
	insert(t, s, time.Time{}, foreign)
	insert(t, s, time.Time{}, elsewhere)

	var out, in []memory.Relation
	for i, kind := range memory.RelationKinds {
		out = append(out, memory.Relation{From: a.ID, To: b.ID, Kind: kind, CreatedAt: after(10 + i)})
		in = append(in, memory.Relation{From: c.ID, To: a.ID, Kind: kind, CreatedAt: after(i)})
	}
	must(t, relate(t, s, alice, out...))
	must(t, relate(t, s, alice, in...))
	must(t, relate(t, s, alice))
	again := out[0]
	again.CreatedAt = after(999)
	must(t, relate(t, s, alice, again, in[1])) // already exist: no effect
	for id, want := range map[string][]memory.Relation{a.ID: append(in, out...), b.ID: out, c.ID: in} {
		got, err := s.Relations(t.Context(), "app", id)
		must(t, err)
		wantSame(t, "relations", got, want)
	}
	got, err := s.Relations(t.Context(), "app", foreign.ID)
	must(t, err)
	wantSame(t, "relations of an unrelated memory", got, []memory.Relation{})
	for _, ref := range [][2]string{{"other", a.ID}, {"app", memory.NewID()}, {"app", "no id"}, {"app", ""}} {
		_, err := s.Relations(t.Context(), ref[0], ref[1])
		wantKind(t, err, memory.KindNotFound)
	}

	fine := memory.Relation{From: b.ID, To: c.ID, Kind: memory.Supports, CreatedAt: epoch}
	for _, unknown := range []string{memory.NewID(), "no id", "", foreign.ID, elsewhere.ID} {
		wantKind(t, relate(t, s, alice, fine, memory.Relation{
			From:      a.ID,
			To:        unknown,
			Kind:      memory.Supports,
			CreatedAt: epoch,
		}), memory.KindNotFound)
		wantKind(t, relate(t, s, alice, fine, memory.Relation{
			From:      unknown,
			To:        a.ID,
			Kind:      memory.Supports,
			CreatedAt: epoch,
		}), memory.KindNotFound)
	}
	wantKind(t, relate(t, s, foreign.Owner, fine), memory.KindNotFound)
	wantKind(t, relate(t, s, alice, fine, memory.Relation{
		From:      a.ID,
		To:        a.ID,
		Kind:      memory.Supports,
		CreatedAt: epoch,
	}), memory.KindInvalid)
	wantKind(t, relate(t, s, alice, fine, memory.Relation{
		From:      a.ID,
		To:        b.ID,
		Kind:      "likes",
		CreatedAt: epoch,
	}), memory.KindInvalid)
	got, err = s.Relations(t.Context(), "app", b.ID)
	must(t, err)
	wantSame(t, "relations after refusals", got, out)
}

func sources(t *testing.T, s db.Store) {
	reflection := newMemory(alice, "reflection")
	summary := newMemory(alice, "summary")
	other := newMemory(alice, "no sources")
	var facts []memory.Memory
	for i := range 4 {
		m := newMemory(alice, describe(i))
		m.CreatedAt, m.Status = after(-i), memory.Statuses[i]
		facts = append(facts, m)
	}
	insert(t, s, time.Time{}, append(facts, reflection, summary, other)...)
	foreign := newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's")
	foreignFact := newMemory(foreign.Owner, "bob's fact")
	insert(t, s, time.Time{}, foreign, foreignFact)
	derive := func(from, to memory.Memory) memory.Relation {
		return memory.Relation{From: from.ID, To: to.ID, Kind: memory.DerivedFrom, CreatedAt: epoch}
	}
	must(t, relate(t, s, alice, derive(reflection, facts[0]), derive(reflection, facts[1]), derive(reflection, facts[3]),
		derive(summary, facts[1]), derive(summary, reflection),
		memory.Relation{From: other.ID, To: facts[2].ID, Kind: memory.Refines, CreatedAt: epoch}))
	must(t, relate(t, s, foreign.Owner, derive(foreign, foreignFact)))

	got, err := s.Sources(t.Context(), alice, []string{
		reflection.ID, summary.ID, other.ID, facts[0].ID, foreign.ID, memory.NewID(), "no id",
	})
	must(t, err)
	wantSame(t, "sources", got, map[string][]memory.Memory{
		reflection.ID: {bare(facts[3]), bare(facts[1]), bare(facts[0])},
		summary.ID:    sorted(bare(facts[1]), bare(reflection)),
	})
	for _, stranger := range []memory.Owner{foreign.Owner, {AppID: "other", UserID: "alice"}} {
		got, err := s.Sources(t.Context(), stranger, []string{reflection.ID, summary.ID})
		must(t, err)
		wantSame(t, "of another user", got, map[string][]memory.Memory{})
	}
	got, err = s.Sources(t.Context(), alice, nil)
	must(t, err)
	wantSame(t, "no ids", got, map[string][]memory.Memory{})
}

// sorted returns two memories, oldest first.
func sorted(a, b memory.Memory) []memory.Memory {
	if a.CreatedAt.Before(b.CreatedAt) || a.CreatedAt.Equal(b.CreatedAt) && a.ID < b.ID {
		return []memory.Memory{a, b}
	}
	return []memory.Memory{b, a}
}
