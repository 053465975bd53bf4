package dbtest

import (
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func keys(t *testing.T, s db.Store) {
	ctx := t.Context()
	first := memory.Key{
		ID:        memory.NewID(),
		Hash:      "aa",
		Name:      "first 键",
		AppID:     "app",
		Role:      memory.RoleAdmin,
		CreatedAt: epoch,
	}
	second := memory.Key{
		ID:        memory.NewID(),
		Hash:      "bb",
		Name:      "",
		AppID:     "app",
		UserID:    "ada 用户",
		Role:      memory.RoleRead,
		Memory:    memory.ModeOff,
		CreatedAt: after(1),
		RevokedAt: after(2),
	}
	other := memory.Key{
		ID:        memory.NewID(),
		Hash:      "cc",
		Name:      "o",
		AppID:     "other",
		Role:      memory.RoleWrite,
		CreatedAt: after(-1),
	}
	for _, k := range []memory.Key{second, first, other} {
		must(t, s.CreateKey(ctx, k))
		got, err := s.KeyByHash(ctx, k.Hash)
		must(t, err)
		wantSame(t, "key", got, k)
	}
	twice := first
	twice.ID = memory.NewID()
	wantKind(t, s.CreateKey(ctx, twice), memory.KindConflict)
	twice.ID, twice.Hash = first.ID, "dd"
	wantKind(t, s.CreateKey(ctx, twice), memory.KindConflict)
	list := func(f db.KeyFilter, pageSize int) []memory.Key {
		t.Helper()
		return walk(t, pageSize, func(before *db.Position) ([]memory.Key, error) {
			f.Before, f.Limit = before, pageSize
			return s.ListKeys(ctx, f)
		}, func(k memory.Key) db.Position { return db.Position{At: k.CreatedAt, ID: k.ID} })
	}
	for _, size := range []int{1, 2, memory.MaxPage} {
		for app, want := range map[string][]memory.Key{"app": {second, first}, "": {second, first, other}, "unknown": {}} {
			wantSame(t, "keys of "+app, list(db.KeyFilter{AppID: app}, size), want)
		}
	}
	operator := memory.Key{
		ID: memory.NewID(), Hash: "99", Role: memory.RoleOperator, CreatedAt: epoch.Add(time.Microsecond),
		CreatedBy: first.ID, RevokedBy: second.ID,
	}
	must(t, s.CreateKey(ctx, operator))
	found, err := s.KeyByHash(ctx, operator.Hash)
	must(t, err)
	wantSame(t, "the key of an operator", found, operator)
	wantSame(t, "keys of operators, too", list(db.KeyFilter{}, 9), []memory.Key{second, operator, first, other})
	wantSame(t, "keys of others", list(db.KeyFilter{WithoutOperators: true}, 1), []memory.Key{second, first, other})
	for _, role := range []memory.Role{memory.RoleAdmin, "boss", ""} {
		if err := s.CreateKey(ctx, memory.Key{ID: memory.NewID(), Hash: "ff", Role: role, CreatedAt: epoch}); err == nil {
			t.Errorf("a key of role %q without an app is stored", role)
		}
	}
	for _, k := range []memory.Key{
		{AppID: "app", Role: memory.RoleAdmin}, {AppID: "app", Role: memory.RoleOperator}, {Role: memory.RoleOperator},
	} {
		k.ID, k.Hash, k.UserID, k.CreatedAt = memory.NewID(), "ff", "ada", epoch
		if err := s.CreateKey(ctx, k); err == nil {
			t.Errorf("a key of a user with the role %q in the app %q is stored", k.Role, k.AppID)
		}
	}
	must(t, s.RevokeKey(ctx, first.ID, second.ID, after(9)))
	must(t, s.RevokeKey(ctx, first.ID, other.ID, after(99)))
	first.RevokedAt, first.RevokedBy = after(9), second.ID
	got, err := s.Key(ctx, first.ID)
	must(t, err)
	wantSame(t, "revoked key", got, first)
	wantKind(t, s.RevokeKey(ctx, memory.NewID(), "", epoch), memory.KindNotFound)
	_, err = s.Key(ctx, memory.NewID())
	wantKind(t, err, memory.KindNotFound)
	_, err = s.KeyByHash(ctx, "ee")
	wantKind(t, err, memory.KindNotFound)
}

// The limit counts the valid keys of one app, and no operator's keys.
func keyLimit(t *testing.T, s db.Store) {
	ctx := t.Context()
	key := func(app string, role memory.Role) memory.Key {
		id := memory.NewID()
		return memory.Key{ID: id, Hash: id, AppID: app, Role: role, CreatedAt: epoch}
	}
	last := memory.Key{}
	for range memory.MaxKeys {
		last = key("app", memory.RoleRead)
		must(t, s.CreateKey(ctx, last))
	}
	wantKind(t, s.CreateKey(ctx, key("app", memory.RoleRead)), memory.KindConflict)
	must(t, s.CreateKey(ctx, key("app", memory.RoleOperator)))
	must(t, s.CreateKey(ctx, key("other", memory.RoleRead)))
	must(t, s.RevokeKey(ctx, last.ID, "", epoch))
	must(t, s.CreateKey(ctx, key("app", memory.RoleRead)))
	wantKind(t, s.CreateKey(ctx, key("app", memory.RoleRead)), memory.KindConflict)
}

// walk reads all pages of a list.
func walk[T any](t *testing.T, size int, find func(before *db.Position) ([]T, error), at func(T) db.Position) []T {
	t.Helper()
	all := []T{}
	for before := (*db.Position)(nil); ; {
		found, err := find(before)
		must(t, err)
		all = append(all, found...)
		if len(found) < size {
			return all
		}
		last := at(found[size-1])
		before = &last
	}
}
