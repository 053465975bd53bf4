package dbtest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func newSource(owner memory.Owner, ref string) memory.SourceDocument {
	return memory.SourceDocument{
		ID: memory.NewID(), Owner: owner, Ref: ref, ClientID: strings.TrimPrefix(ref, "id:"), Title: "Das \"Handbuch\" 茶",
		URL: "https://example.com/a?b=%20c", ContentType: memory.Markdown, Version: 1, Hash: strings.Repeat("0a", 32),
		Tags: []string{"hr"}, Metadata: json.RawMessage(`{"a":"\u2603"}`),
		Passages: []memory.Passage{
			{MemoryID: memory.NewID(), Hash: strings.Repeat("1b", 32)},
			{MemoryID: memory.NewID(), Hash: strings.Repeat("2c", 32), Forgotten: true},
		},
		At: after(-5), CreatedAt: epoch, ChangedAt: after(1),
	}
}

func putSource(t *testing.T, s db.Store, d memory.SourceDocument) {
	t.Helper()
	must(t, s.InUser(t.Context(), d.Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.PutSourceDocument(ctx, d)
	}))
}

// sourceDocuments keeps documents by their refs, apart by user and agent, until they are purged.
func sourceDocuments(t *testing.T, s db.Store) {
	ctx := t.Context()
	owner, other := memory.Owner{AppID: "a", UserID: "u"}, memory.Owner{AppID: "a", UserID: "v"}
	first, second := newSource(owner, "id:1"), newSource(owner, "url:https://example.com")
	second.AgentID, second.ClientID, second.Metadata, second.Tags, second.CreatedAt = "agent", "", nil, nil, after(1)
	third := newSource(other, "id:1")
	for _, d := range []memory.SourceDocument{first, second, third} {
		putSource(t, s, d)
	}
	inUser := func(of memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error {
		return s.InUser(ctx, of, f)
	}
	must(t, inUser(owner, func(ctx context.Context, tx db.UserTx) error {
		found, ok, err := tx.SourceDocumentByRef(ctx, "", first.Ref)
		must(t, err)
		wantSame(t, "by its ref", []any{found, ok}, []any{first, true})
		found, ok, err = tx.RecordedSourceDocument(ctx, second.ID)
		must(t, err)
		wantSame(t, "by its id", []any{found, ok}, []any{second, true})
		_, ok, err = tx.SourceDocumentByRef(ctx, "", second.Ref)
		must(t, err)
		wantSame(t, "an agent's without the agent", ok, false)
		_, ok, err = tx.RecordedSourceDocument(ctx, third.ID)
		must(t, err)
		wantSame(t, "another user's", ok, false)
		first.Version, first.Title, first.Passages = 2, "New", first.Passages[1:]
		first.Hash, first.ChangedAt, first.ContentType = strings.Repeat("3d", 32), after(3), memory.HTML
		return tx.PutSourceDocument(ctx, first)
	}))
	found, err := s.SourceDocument(ctx, "a", first.ID)
	must(t, err)
	wantSame(t, "the second version", found, first)
	for _, id := range []string{memory.NewID(), "no id"} {
		_, err = s.SourceDocument(ctx, "a", id)
		wantKind(t, err, memory.KindNotFound)
	}
	_, err = s.SourceDocument(ctx, "b", first.ID)
	wantKind(t, err, memory.KindNotFound)

	taken := newSource(owner, first.Ref)
	wantKind(t, inUser(owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.PutSourceDocument(ctx, taken)
	}), memory.KindConflict)
	taken = newSource(owner, "id:free")
	taken.ID = third.ID
	wantKind(t, inUser(owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.PutSourceDocument(ctx, taken)
	}), memory.KindConflict)

	list := func(f db.SourceDocumentFilter) []memory.SourceDocument {
		f.Owner = owner
		listed, err := s.ListSourceDocuments(ctx, f)
		must(t, err)
		return listed
	}
	wantSame(t, "the newest first", list(db.SourceDocumentFilter{Limit: 9}), []memory.SourceDocument{second, first})
	wantSame(t, "a page", list(db.SourceDocumentFilter{
		Before: &db.Position{At: second.CreatedAt, ID: second.ID}, Limit: 1,
	}), []memory.SourceDocument{first})
	wantSame(t, "another agent's", list(db.SourceDocumentFilter{AgentID: "x", Limit: 9}), []memory.SourceDocument{first})
	exported, err := s.ExportSourceDocuments(ctx, db.Extent{AppID: "a", Limit: 2}, nil)
	must(t, err)
	wantSame(t, "an export", exported, []memory.SourceDocument{first, second})
	exported, err = s.ExportSourceDocuments(ctx, db.Extent{AppID: "a", Limit: 2}, &second)
	must(t, err)
	wantSame(t, "the rest", exported, []memory.SourceDocument{third})

	first.ForgottenAt = after(4)
	putSource(t, s, first)
	wantSame(t, "without the forgotten", list(db.SourceDocumentFilter{Limit: 9}), []memory.SourceDocument{second})
	for _, purge := range []struct{ before, purged int }{{4, 0}, {5, 1}, {5, 0}} {
		n, err := s.PurgeSourceDocuments(ctx, after(purge.before), 10)
		must(t, err)
		wantSame(t, "purged", n, purge.purged)
	}
	_, err = s.SourceDocument(ctx, "a", first.ID)
	wantKind(t, err, memory.KindNotFound)
}
