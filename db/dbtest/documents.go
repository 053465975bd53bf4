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

func documents(t *testing.T, s db.Store) {
	var want []db.Document
	var all []memory.Memory
	for i := range 24 {
		m := newMemory(alice, describe(i))
		m.Tags = [][]string{{"茶", "a"}, nil}[i%2]
		// A locale would change this order: in byte order, capitals come first.
		m.ConversationID = []string{"", "b", "B", "a", "ä", "茶"}[i%6]
		m.CreatedAt = after(-(i / 12))
		m.Lexemes = describe(i)
		if i%4 == 1 {
			m.Type, m.Speaker = memory.TypeMessage, "茶 Ana"
		}
		m.Status = []memory.Status{memory.Active, memory.Active, memory.Forgotten}[i%3]
		all = append(all, m)
		if m.Status == memory.Active {
			want = append(want, db.Document{
				ID:             m.ID,
				Lexemes:        m.Lexemes,
				Speaker:        m.Speaker,
				Asked:          m.Asked,
				Content:        m.Content,
				Domain:         m.Domain,
				Type:           m.Type,
				Tags:           m.Tags,
				AgentID:        m.AgentID,
				ConversationID: m.ConversationID,
				Importance:     m.Importance,
				CreatedAt:      m.CreatedAt,
				LastAccessedAt: m.LastAccessedAt,
				ExpiresAt:      m.ExpiresAt,
			})
		}
	}
	insert(t, s, time.Time{}, all...)
	var relations []memory.Relation
	for i := range want {
		from := &want[i]
		for _, to := range []int{(i + 1) % len(want), (i + 2) % len(want)} {
			relations = append(relations,
				memory.Relation{From: from.ID, Kind: memory.DerivedFrom, To: want[to].ID, CreatedAt: epoch},
				memory.Relation{From: from.ID, Kind: memory.Supports, To: want[(to+5)%len(want)].ID, CreatedAt: epoch})
			if from.Type != memory.TypeMessage {
				from.DerivedFrom = append(from.DerivedFrom, want[to].ID)
			}
		}
		slices.Sort(from.DerivedFrom)
	}
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, relations)
	}))
	slices.SortFunc(want, func(a, b db.Document) int {
		return cmp.Or(cmp.Compare(a.ConversationID, b.ConversationID), a.CreatedAt.Compare(b.CreatedAt),
			cmp.Compare(a.ID, b.ID))
	})
	got, err := s.Documents(t.Context(), alice)
	must(t, err)
	wantSame(t, "documents", got, want)
}

func hydrate(t *testing.T, s db.Store) {
	a := newMemory(alice, "a")
	b := newMemory(alice, "b")
	gone := newMemory(alice, "gone")
	gone.Status = memory.Consolidated
	insert(t, s, time.Time{}, a, b, gone)
	asked := []string{a.ID, b.ID, gone.ID, memory.NewID(), "no id", a.ID}
	got, err := s.Hydrate(t.Context(), alice, asked, []string{b.ID, gone.ID})
	must(t, err)
	slices.SortFunc(got, func(a, b memory.Memory) int { return cmp.Compare(a.Content, b.Content) })
	wantSame(t, "hydrated", got, []memory.Memory{bare(a), b})
	vectors, err := s.Embeddings(t.Context(), alice, "model", asked)
	must(t, err)
	wantSame(t, "embeddings", vectors, map[string][]float32{
		a.ID: a.Embedding, b.ID: b.Embedding, gone.ID: gone.Embedding,
	})
	delete(vectors, gone.ID)
	wantSame(t, "each embedding", embeddings(t, s, "model"), vectors)
	wantSame(t, "each embedding by another model", embeddings(t, s, "another"), map[string][]float32{})
	few := 0
	must(t, s.EachEmbedding(t.Context(), alice, "model", 1, func(string, []float32) { few++ }))
	wantSame(t, "embeddings up to the limit", few, 1)
	got, err = s.Hydrate(t.Context(), alice, nil, nil)
	must(t, err)
	wantSame(t, "nothing", got, []memory.Memory{})
}

// embeddings returns all embeddings of alice's memories by a model.
func embeddings(t *testing.T, s db.Store, model string) map[string][]float32 {
	t.Helper()
	all := map[string][]float32{}
	must(t, s.EachEmbedding(t.Context(), alice, model, 100, func(id string, embedding []float32) {
		all[id] = slices.Clone(embedding)
	}))
	return all
}

func recalled(t *testing.T, s db.Store) {
	a := newMemory(alice, "a")
	b := newMemory(alice, "b")
	gone := newMemory(alice, "gone")
	a.LastAccessedAt, gone.Status = after(3), memory.Forgotten
	insert(t, s, time.Time{}, a, b, gone)
	whole, rest := []string{b.ID, gone.ID, memory.NewID(), "no id", b.ID}, []string{a.ID, gone.ID, memory.NewID(), "no id"}
	got, err := s.Recalled(t.Context(), alice, whole, rest)
	must(t, err)
	b = bare(b)
	b.Lexemes = ""
	wantSame(t, "recalled", got, db.Recalled{
		Whole:    []memory.Memory{b},
		Accessed: map[string]time.Time{a.ID: a.LastAccessedAt},
	})
	got, err = s.Recalled(t.Context(), alice, nil, nil)
	must(t, err)
	wantSame(t, "nothing", got, db.Recalled{})
}
