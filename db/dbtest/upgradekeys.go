package dbtest

import (
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// UpgradeKeys migrates a store from before there were operators. insert stores a key of that time.
func UpgradeKeys(t *testing.T, s db.Store, insert func(memory.Key) error) {
	key := func(name, appID string, role memory.Role) memory.Key {
		return memory.Key{ID: memory.NewID(), Hash: memory.NewID(), Name: name, AppID: appID, Role: role, CreatedAt: epoch}
	}
	before := []memory.Key{
		key("first", "default", memory.RoleAdmin), key("configured", "default", memory.RoleAdmin),
		key("first", "other", memory.RoleAdmin), key("first", "default", memory.RoleWrite),
		key("backend", "default", memory.RoleAdmin),
	}
	for _, k := range before {
		must(t, insert(k))
	}
	must(t, s.Migrate(t.Context()))
	for i, k := range before {
		if i < 2 {
			k.Role = memory.RoleOperator
		}
		got, err := s.KeyByHash(t.Context(), k.Hash)
		must(t, err)
		wantSame(t, "key", got, k)
	}
}
