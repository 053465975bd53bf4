package dbtest

import (
	"fmt"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// UpgradeLexemes checks that the migration which recomputes lexemes does so for every memory. age gives all memories
// of a migrated store the lexemes of an earlier version, and makes the store forget the migration.
func UpgradeLexemes(t *testing.T, s db.Store, age func(lexemes string) error) {
	t.Helper()
	must(t, s.Migrate(t.Context()))
	want := map[string]string{}
	var memories []memory.Memory
	for i := range 1001 { // more than the migration reads at a time
		m := newMemory(alice, fmt.Sprintf("Jürgen schreibt C++ %d", i))
		if i%2 == 0 {
			m.Type = memory.TypeMessage
		}
		m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
		want[m.ID] = m.Lexemes
		memories = append(memories, m)
	}
	insert(t, s, epoch, memories...)
	day := text.Join(text.Lexemes(epoch.Format("2006-01-02")))
	must(t, age(day+" jürgen schreibt c"))
	must(t, s.Migrate(t.Context()))
	documents, err := s.Documents(t.Context(), alice)
	must(t, err)
	got := map[string]string{}
	for _, d := range documents {
		got[d.ID] = d.Lexemes
	}
	wantSame(t, "lexemes", got, want)
}
