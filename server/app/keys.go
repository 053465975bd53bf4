package app

import (
	"context"
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

// firstKey creates an admin key: the configured one if it is new, or a generated
// one if the database has no valid admin key. It returns the secret of a
// generated key, which is printed once.
func firstKey(ctx context.Context, keys db.Keys, now func() time.Time, configured string) (secret string, err error) {
	if configured != "" {
		k, err := keys.KeyByHash(ctx, api.HashKey(configured))
		if memory.IsKind(err, memory.KindNotFound) {
			_, err = createKey(ctx, keys, now, configured, "configured", defaultApp, memory.RoleAdmin)
			if memory.IsKind(err, memory.KindConflict) {
				err = nil // another replica created it first
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
	secret = api.NewSecret()
	_, err = createKey(ctx, keys, now, secret, "first", defaultApp, memory.RoleAdmin)
	return secret, err
}

func createKey(ctx context.Context, keys db.Keys, now func() time.Time, secret, name, appID string, role memory.Role) (
	memory.Key, error) {
	k := memory.Key{
		ID: memory.NewID(), Hash: api.HashKey(secret), Name: name, AppID: appID, Role: role,
		CreatedAt: memory.Instant(now()),
	}
	return k, keys.CreateKey(ctx, k)
}

// CreateKey creates a key for an app. No other call returns the secret.
func CreateKey(ctx context.Context, cfg config.Config, host Host, name, appID string, role memory.Role) (
	secret string, key memory.Key, err error) {
	if why := memory.CheckID(appID, false); why != "" {
		return "", key, memory.Invalid(memory.Field{Path: "app", Message: why})
	}
	if !slices.Contains(memory.Roles, role) {
		return "", key, memory.Invalid(memory.Field{Path: "role", Message: "is not one of admin, write, read"})
	}
	err = withDatabase(ctx, cfg, zap.NewNop(), func(keys *database) error {
		secret = api.NewSecret()
		key, err = createKey(ctx, keys, host.Now, secret, name, appID, role)
		return err
	})
	return secret, key, err
}

// ListKeys lists the keys of an app, or of all apps if appID is empty.
func ListKeys(ctx context.Context, cfg config.Config, appID string) (list []memory.Key, err error) {
	err = withDatabase(ctx, cfg, zap.NewNop(), func(keys *database) error {
		list, err = keys.ListKeys(ctx, appID)
		return err
	})
	return list, err
}

// RevokeKey revokes a key. Running servers refuse it within KeyTTL.
func RevokeKey(ctx context.Context, cfg config.Config, host Host, id string) error {
	return withDatabase(ctx, cfg, zap.NewNop(), func(keys *database) error {
		return keys.RevokeKey(ctx, id, memory.Instant(host.Now()))
	})
}
