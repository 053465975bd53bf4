package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/api"
	"hippocampus/server/config"
)

// defaultApp is the app of the first admin key.
const defaultApp = api.DevApp

// firstKey makes sure that there is an admin key: the configured one, or a
// fresh one when the database has no valid key. It returns the secret of a key
// that it made up, for printing once.
func firstKey(ctx context.Context, keys db.Keys, now func() time.Time, configured string) (fresh string, err error) {
	if configured != "" {
		k, err := keys.KeyByHash(ctx, api.HashKey(configured))
		if memory.IsKind(err, memory.KindNotFound) {
			_, err = createKey(ctx, keys, now, configured, "configured", defaultApp, memory.RoleAdmin)
			if memory.IsKind(err, memory.KindConflict) {
				err = nil // another replica was first
			}
		} else if err == nil && !k.RevokedAt.IsZero() {
			err = memory.Errorf(memory.KindConflict, "admin_key has been revoked: configure another one")
		}
		return "", err
	}
	all, err := keys.ListKeys(ctx, "")
	if err != nil {
		return "", err
	}
	for _, k := range all {
		if k.Role == memory.RoleAdmin && k.RevokedAt.IsZero() {
			return "", nil
		}
	}
	secret := api.NewSecret()
	_, err = createKey(ctx, keys, now, secret, "first", defaultApp, memory.RoleAdmin)
	return secret, err
}

func createKey(ctx context.Context, keys db.Keys, now func() time.Time, secret, name, appID string, role memory.Role) (memory.Key, error) {
	k := memory.Key{
		ID: memory.NewID(), Hash: api.HashKey(secret), Name: name, AppID: appID, Role: role,
		CreatedAt: memory.Instant(now()),
	}
	return k, keys.CreateKey(ctx, k)
}

// CreateKey makes a key for an app. The secret is returned here only.
func CreateKey(ctx context.Context, cfg config.Config, host Host, name, appID string, role memory.Role) (secret string, key memory.Key, err error) {
	if why := memory.CheckID(appID, false); why != "" {
		return "", key, memory.Invalid(memory.Field{Path: "app", Message: why})
	}
	if !slices.Contains(memory.Roles, role) {
		return "", key, memory.Invalid(memory.Field{Path: "role", Message: "is not one of admin, write, read"})
	}
	err = withKeys(ctx, cfg, func(keys db.Keys) error {
		secret = api.NewSecret()
		key, err = createKey(ctx, keys, host.Now, secret, name, appID, role)
		return err
	})
	return secret, key, err
}

// ListKeys lists the keys of an app, or of all apps when it is empty.
func ListKeys(ctx context.Context, cfg config.Config, appID string) (list []memory.Key, err error) {
	err = withKeys(ctx, cfg, func(keys db.Keys) error {
		list, err = keys.ListKeys(ctx, appID)
		return err
	})
	return list, err
}

// RevokeKey ends a key. Running servers refuse it within a few seconds.
func RevokeKey(ctx context.Context, cfg config.Config, host Host, id string) error {
	return withKeys(ctx, cfg, func(keys db.Keys) error {
		return keys.RevokeKey(ctx, id, memory.Instant(host.Now()))
	})
}

func withKeys(ctx context.Context, cfg config.Config, f func(db.Keys) error) (err error) {
	store, err := openDatabase(ctx, cfg, zap.NewNop())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if cfg.Database.Migrate {
		if err := store.Migrate(ctx); err != nil {
			return err
		}
	}
	return f(store)
}
