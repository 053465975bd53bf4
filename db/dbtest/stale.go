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

// stale stores memories that each differ in one property, and derives a summary
// and a reflection from two of them.
func stale(t *testing.T, s db.Store) {
	old := func(change func(*memory.Memory)) memory.Memory {
		m := newMemory(alice, "old")
		m.Pinned = false
		m.CreatedAt, m.UpdatedAt = after(-10), after(-9)
		change(&m)
		return m
	}
	var want []memory.Memory
	for i := range 6 {
		want = append(want, old(func(m *memory.Memory) { m.CreatedAt = after(-20 + i/2) }))
	}
	used := old(func(m *memory.Memory) { m.AccessCount = 4 })
	said := old(func(m *memory.Memory) {
		m.Type = memory.TypeMessage
		m.CreatedAt = after(-4)
		m.LastAccessedAt = after(-4)
		m.UpdatedAt = after(-4)
	})
	condensed, reflected := old(func(*memory.Memory) {}), old(func(*memory.Memory) {})
	core := old(func(m *memory.Memory) { m.Type, m.ConversationID = memory.TypeSummary, "" }) // of an episode
	want = append(want, used, reflected, said, core)
	others := []memory.Memory{
		condensed,
		old(func(m *memory.Memory) { m.CreatedAt = after(-5) }),
		old(func(m *memory.Memory) { m.Pinned = true }),
		old(func(m *memory.Memory) { m.Type, m.LastAccessedAt = memory.TypeMessage, after(-3) }),
		old(func(m *memory.Memory) { // of the past, recorded lately
			m.Type = memory.TypeMessage
			m.LastAccessedAt, m.UpdatedAt = after(-10), after(-3)
		}),
		old(func(m *memory.Memory) { m.AccessCount = 5 }),
		old(func(m *memory.Memory) { m.Status = memory.Forgotten }),
		old(func(m *memory.Memory) { m.Type, m.ConversationID = memory.TypeSummary, "c" }),
	}
	summary := old(func(m *memory.Memory) { m.Type, m.Status = memory.TypeSummary, memory.Forgotten })
	reflection := old(func(m *memory.Memory) { m.Type = memory.TypeReflection })
	insert(t, s, time.Time{}, append(append(others, summary, reflection), want...)...)
	insert(t, s, time.Time{}, func() memory.Memory {
		m := old(func(*memory.Memory) {})
		m.Owner = memory.Owner{AppID: "app", UserID: "bob"}
		return m
	}())
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{
			{From: summary.ID, To: condensed.ID, Kind: memory.DerivedFrom, CreatedAt: epoch},
			{From: reflection.ID, To: reflected.ID, Kind: memory.DerivedFrom, CreatedAt: epoch},
			{From: summary.ID, To: used.ID, Kind: memory.Supports, CreatedAt: epoch},
		})
	}))
	for i := range want {
		want[i].Embedding, want[i].OtherEmbedding = nil, nil
	}
	slices.SortFunc(want, func(a, b memory.Memory) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, limit := range []int{1, 3, 100} {
		found := []memory.Memory{}
		for position := (db.Position{}); ; {
			page, err := s.Stale(t.Context(), alice, db.StaleFilter{
				Before: after(-5), MessagesBefore: after(-3), Accesses: 5, After: position, Limit: limit,
			})
			must(t, err)
			found = append(found, page...)
			if len(page) < limit {
				break
			}
			position = db.Position{At: page[limit-1].CreatedAt, ID: page[limit-1].ID}
		}
		wantSame(t, "stale", found, want)
	}
}
