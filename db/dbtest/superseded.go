package dbtest

import (
	"context"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// supersededSources checks that a document names the sources of the memories that it superseded, that the document of a
// message has the superseded memories that were derived from it, and that a change of any of these changes the
// document.
func supersededSources(t *testing.T, s db.Store) {
	message, first, second, third := newMemory(alice, "message"), newMemory(alice, "first"), newMemory(alice, "second"),
		newMemory(alice, "third")
	message.Type = memory.TypeMessage
	insert(t, s, epoch, message, first, second, third)
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{
			{From: first.ID, Kind: memory.DerivedFrom, To: message.ID, CreatedAt: epoch},
		})
	}))
	last := changesOf(t, s, 0).Revision
	// changed compares the changed documents with the sources of the memories that each of them superseded.
	changed := func(what string, want map[string][]db.Former, gone ...string) {
		t.Helper()
		read := changesOf(t, s, last)
		got := map[string][]db.Former{}
		for _, d := range read.Documents {
			got[d.ID] = d.Supersedes
		}
		wantSame(t, what, got, want)
		wantSame(t, what+": gone", slices.Sorted(slices.Values(read.Gone)), slices.Sorted(slices.Values(gone)))
		documents, err := s.Documents(t.Context(), alice)
		must(t, err)
		wantSame(t, what+": all documents", changesOf(t, s, 0).Documents, documents)
		last = read.Revision
	}
	supersede := func(m *memory.Memory, by string) {
		m.Status, m.SupersededBy = memory.Superseded, by
		m.Revision++
		update(t, s, *m)
	}
	from := []db.Former{{Lexemes: first.Lexemes, From: message.ID, Said: message.Content}}
	supersede(&first, second.ID)
	found, err := s.Superseded(t.Context(), alice, second.ID)
	must(t, err)
	wantSame(t, "what a memory supersedes", memory.IDs(found), []string{first.ID})
	changed("superseding", map[string][]db.Former{message.ID: from, second.ID: from}, first.ID)
	supersede(&second, third.ID)
	changed("superseding again", map[string][]db.Former{third.ID: from}, second.ID)
	message.Content, from[0].Said = "changed", "changed"
	message.Revision++
	update(t, s, message)
	changed("a change of the message", map[string][]db.Former{message.ID: from, third.ID: from}, first.ID, second.ID)
	third.Status = memory.Forgotten
	third.Revision++
	update(t, s, third)
	changed("forgetting what superseded it", nil, third.ID)
	third.Status = memory.Active
	third.Revision++
	update(t, s, third)
	changed("restoring what superseded it", map[string][]db.Former{third.ID: from})
	second.Status, second.SupersededBy = memory.Active, ""
	second.Revision++
	update(t, s, second)
	changed("restoring", map[string][]db.Former{second.ID: from, third.ID: nil})
	first.Status, first.SupersededBy = memory.Forgotten, ""
	first.Revision++
	update(t, s, first)
	changed("forgetting", map[string][]db.Former{message.ID: nil, second.ID: nil}, first.ID)

	insight, source := newMemory(alice, "insight"), newMemory(alice, "source")
	insight.Type = memory.TypeReflection
	insert(t, s, epoch, insight, source)
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{
			{From: insight.ID, Kind: memory.DerivedFrom, To: source.ID, CreatedAt: epoch},
		})
	}))
	last = changesOf(t, s, 0).Revision
	supersede(&source, third.ID)
	changed("superseding the source of an insight", map[string][]db.Former{
		insight.ID: {{Lexemes: source.Lexemes, From: insight.ID}}, third.ID: nil,
	}, source.ID)
	source.Status, source.SupersededBy = memory.Active, ""
	source.Revision++
	update(t, s, source)
	changed("restoring the source of an insight", map[string][]db.Former{insight.ID: nil, source.ID: nil, third.ID: nil})
}
