package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/api"
	"hippocampus/server/config"
)

// DefaultApp is the app of the first key, which is an operator's key also, and of keys that name no app.
const DefaultApp = api.DevApp

// configuredName names the key that admin_key configures. No other key has this name.
const configuredName = "configured"

// firstKey creates an admin key: the configured one if it is new, or a generated
// one if the database has no valid admin key. It returns the secret of a
// generated key, which is printed once.
func firstKey(ctx context.Context, keys db.Keys, now func() time.Time, configured string) (secret string, err error) {
	if configured != "" {
		return "", configureKey(ctx, keys, now, configured)
	}
	all, err := keys.ListKeys(ctx, "")
	if err != nil {
		return "", err
	}
	for _, k := range all {
		if k.Role.Includes(memory.RoleAdmin) && k.RevokedAt.IsZero() {
			return "", nil
		}
	}
	secret = api.NewSecret()
	_, err = createKey(ctx, keys, now, secret, "first", DefaultApp, memory.RoleOperator)
	return secret, err
}

// configureKey stores the configured key if it is new, and revokes the one that
// was configured before.
func configureKey(ctx context.Context, keys db.Keys, now func() time.Time, secret string) error {
	hash := api.HashKey(secret)
	key, err := keys.KeyByHash(ctx, hash)
	switch {
	case memory.IsKind(err, memory.KindNotFound):
		_, err = createKey(ctx, keys, now, secret, configuredName, DefaultApp, memory.RoleOperator)
		if err != nil && !memory.IsKind(err, memory.KindConflict) { // conflict: another replica created it first
			return err
		}
	case err != nil:
		return err
	case !key.RevokedAt.IsZero():
		return memory.Errorf(memory.KindConflict, "admin_key has been revoked: configure another one")
	case !key.Role.Includes(memory.RoleAdmin):
		return memory.Errorf(memory.KindConflict, "admin_key is a key of role %s: configure another one", key.Role)
	}
	all, err := keys.ListKeys(ctx, DefaultApp)
	if err != nil {
		return err
	}
	for _, old := range all {
		if old.Name == configuredName && old.Hash != hash && old.RevokedAt.IsZero() {
			if err := keys.RevokeKey(ctx, old.ID, memory.Instant(now())); err != nil {
				return fmt.Errorf("revoke the admin key that was configured before: %w", err)
			}
		}
	}
	return nil
}

func createKey(ctx context.Context, keys db.Keys, now func() time.Time, secret, name, appID string, role memory.Role) (
	memory.Key, error) {
	k := memory.Key{
		ID: memory.NewID(), Hash: api.HashKey(secret), Name: name, AppID: appID, Role: role,
		CreatedAt: memory.Instant(now()),
	}
	return k, keys.CreateKey(ctx, k)
}

// CreateKey creates a key for an app, or for no app if the role is operator. No other call returns the secret.
func CreateKey(ctx context.Context, cfg config.Config, host Host, name, appID string, role memory.Role) (
	secret string, key memory.Key, err error) {
	if !slices.Contains(memory.Roles, role) {
		return "", key, memory.Invalid(memory.Field{Path: "role", Message: "is not one of operator, admin, write, read"})
	}
	why := memory.CheckID(appID, role == memory.RoleOperator)
	if role == memory.RoleOperator && appID != "" {
		why = "does not go with the role operator, which concerns all apps: leave it out"
	}
	if why != "" {
		return "", key, memory.Invalid(memory.Field{Path: "app", Message: why})
	}
	if name == configuredName {
		return "", key, memory.Invalid(memory.Field{Path: "name", Message: "is the name of admin_key's key: give another"})
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
