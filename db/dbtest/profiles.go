package dbtest

import (
	"context"
	"encoding/json"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func keepProfile(t *testing.T, s db.Store, p db.FilledProfile) {
	t.Helper()
	must(t, s.InUser(t.Context(), p.Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.KeepProfile(ctx, p)
	}))
}

func filledFor(owner memory.Owner, agentID, basis string) db.FilledProfile {
	return db.FilledProfile{
		Owner: owner, AgentID: agentID, Basis: basis, Fields: json.RawMessage(`[{"value":"\"Ada\" ☃"}]`), FilledAt: after(2),
	}
}

// profiles have one schema for each app, and one filled profile for each user and agent, which goes with the schema,
// with purged memories and with the user.
func profiles(t *testing.T, s db.Store) {
	ctx := t.Context()
	if _, err := s.ProfileSchema(ctx, "app"); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("an app without a schema: %v", err)
	}
	if err := s.DeleteProfileSchema(ctx, "app"); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("deleted nothing: %v", err)
	}
	schema := db.ProfileSchema{
		AppID: "app", Schema: json.RawMessage(`{"a":"\"b\" ☃"}`), StoredAt: epoch, StoredBy: memory.NewID(),
	}
	for version := 1; version <= 2; version++ {
		stored, err := s.SetProfileSchema(ctx, schema)
		must(t, err)
		schema.Version = version
		wantSame(t, "what is stored", stored, schema)
		found, err := s.ProfileSchema(ctx, "app")
		must(t, err)
		wantSame(t, "what is found", found, schema)
	}
	other, err := s.SetProfileSchema(ctx, db.ProfileSchema{AppID: "other", Schema: json.RawMessage(`{}`), StoredAt: epoch})
	must(t, err)
	wantSame(t, "the version of another app", other.Version, 1)

	is := func(what string, owner memory.Owner, agentID string, want db.FilledProfile) {
		t.Helper()
		found, err := s.FilledProfile(ctx, owner, agentID)
		must(t, err)
		wantSame(t, what, found, want)
	}
	elsewhere := memory.Owner{AppID: "other", UserID: alice.UserID}
	is("nothing filled", alice, "", db.FilledProfile{})
	for _, p := range []db.FilledProfile{
		filledFor(alice, "", "1"), filledFor(alice, "a", "2"), filledFor(alice, "", "3"), filledFor(elsewhere, "", "4"),
	} {
		keepProfile(t, s, p)
	}
	is("the latest", alice, "", filledFor(alice, "", "3"))
	is("of an agent", alice, "a", filledFor(alice, "a", "2"))
	is("of another app", elsewhere, "", filledFor(elsewhere, "", "4"))

	m := newMemory(alice, "Lives in Porto.")
	insert(t, s, epoch, m)
	m = forgotten(t, s, m, after(1))
	is("after a memory is forgotten", alice, "a", filledFor(alice, "a", "2"))
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		_, err := tx.Purge(ctx, []string{m.ID})
		return err
	}))
	is("after a purge", alice, "a", db.FilledProfile{})
	is("after a purge of another app's user", elsewhere, "", filledFor(elsewhere, "", "4"))

	keepProfile(t, s, filledFor(alice, "", "5"))
	must(t, s.DeleteProfileSchema(ctx, "app"))
	is("without a schema", alice, "", db.FilledProfile{})
	is("with another app's schema", elsewhere, "", filledFor(elsewhere, "", "4"))
	keepProfile(t, s, filledFor(elsewhere, "a", "6"))
	erased := begin(t, s, elsewhere)
	eraseAll(t, s, erased, 10)
	_, err = s.EndErasure(ctx, erased, after(200), 0)
	must(t, err)
	is("of an erased user", elsewhere, "a", db.FilledProfile{})
}

func everyProfile(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	_, errs["ProfileSchema"] = s.ProfileSchema(ctx, "app")
	_, errs["SetProfileSchema"] = s.SetProfileSchema(ctx, db.ProfileSchema{
		AppID: "app", Schema: json.RawMessage(`{}`), StoredAt: epoch,
	})
	_, errs["FilledProfile"] = s.FilledProfile(ctx, alice, "")
	errs["DeleteProfileSchema"] = s.DeleteProfileSchema(ctx, "app")
	return errs
}
