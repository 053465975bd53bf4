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

func faded(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: alice.AppID, UserID: "bob"}
	fade := func(owner memory.Owner, content string, accessed int) memory.Memory {
		m := newMemory(owner, content)
		m.Status, m.Faded, m.LastAccessedAt = memory.Forgotten, true, after(accessed)
		m.Lexemes = content
		return m
	}
	old, recent, foreign := fade(alice, "old", 1), fade(alice, "recent", 3), fade(bob, "foreign", 2)
	said, replaced := fade(alice, "said", 2), newMemory(alice, "replaced")
	said.Type, replaced.Status = memory.TypeMessage, memory.Superseded
	asked, active := fade(alice, "asked", 4), newMemory(alice, "active")
	asked.Faded = false
	insert(t, s, time.Time{}, old, recent, said, replaced, asked, active)
	insert(t, s, time.Time{}, foreign)
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{
			{From: replaced.ID, Kind: memory.DerivedFrom, To: said.ID, CreatedAt: epoch},
		})
	}))
	wordsOf := func(list ...memory.Memory) []db.FadedWords {
		words := []db.FadedWords{}
		for _, m := range list {
			words = append(words, db.FadedWords{ID: m.ID, Lexemes: m.Lexemes})
		}
		return words
	}
	wantWords := func(owner memory.Owner, limit int, want ...memory.Memory) {
		t.Helper()
		got, err := s.FadedWords(t.Context(), owner, limit)
		must(t, err)
		wantSame(t, "words of what has faded", append([]db.FadedWords{}, got...), wordsOf(want...))
	}
	wantWords(alice, 9, recent, said, old)
	wantWords(alice, 2, recent, said)
	wantWords(bob, 9, foreign)
	wantWords(memory.Owner{AppID: "other", UserID: alice.UserID}, 9)

	all, err := s.Faded(t.Context(), alice)
	must(t, err)
	wantSame(t, "all that has faded", all, []memory.Memory{bare(old), bare(said), bare(recent)})
	ids := []string{old.ID, recent.ID, said.ID, foreign.ID, asked.ID, active.ID, memory.NewID(), "no id", old.ID}
	got, err := s.Recollectable(t.Context(), alice, ids)
	must(t, err)
	slices.SortFunc(got, func(a, b memory.Memory) int { return cmp.Compare(a.Content, b.Content) })
	wantSame(t, "what may be recollected", got, []memory.Memory{bare(old), bare(recent)})

	restored := old
	restored.Status, restored.Faded, restored.UpdatedAt = memory.Active, false, after(9)
	restored.Revision++
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.Update(ctx, restored)
	}))
	wantWords(alice, 9, recent, said)
	stored, err := s.Memory(t.Context(), alice.AppID, recent.ID)
	must(t, err)
	wantSame(t, "a faded memory", stored, bare(recent))
}
