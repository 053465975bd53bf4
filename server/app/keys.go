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
	"hippocampus/server/frame"
)

// DefaultApp is the app of the first key, which is an operator's key also, and of keys that name no app.
const DefaultApp = frame.DevApp

// firstKey creates an admin key: the configured one if it is new, or a generated
// one if the database has no valid admin key. It returns the secret of a
// generated key, which is printed once.
func firstKey(ctx context.Context, keys db.Keys, now func() time.Time, configured string, log *zap.Logger) (
	secret string, err error) {
	if configured != "" {
		return "", configureKey(ctx, keys, now, configured, log)
	}
	all, err := allKeys(ctx, keys, "")
	if err != nil {
		return "", err
	}
	for _, k := range all {
		if k.Role.Includes(memory.RoleAdmin) && k.RevokedAt.IsZero() {
			return "", nil
		}
	}
	secret = frame.NewSecret()
	_, err = createKey(ctx, keys, now, secret, memory.Key{Name: "first", AppID: DefaultApp, Role: memory.RoleOperator})
	return secret, err
}

// configureKey stores the configured key if it is new, and revokes the one that
// was configured before. One that has been revoked stays so, and revokes no other: the
// start goes on, since a replica may be configured with a former key for a while.
func configureKey(ctx context.Context, keys db.Keys, now func() time.Time, secret string, log *zap.Logger) error {
	hash := frame.HashKey(secret)
	key, err := keys.KeyByHash(ctx, hash)
	switch {
	case memory.IsKind(err, memory.KindNotFound):
		_, err = createKey(ctx, keys, now, secret, memory.Key{
			Name: api.ConfiguredKey, AppID: DefaultApp, Role: memory.RoleOperator,
		})
		if err != nil && !memory.IsKind(err, memory.KindConflict) { // conflict: another replica created it first
			return err
		}
	case err != nil:
		return err
	case !key.RevokedAt.IsZero():
		log.Warn("admin_key has been revoked, by configuring another one or by a request, and is refused: " +
			"configure another one")
		return nil
	case !key.Role.Includes(memory.RoleAdmin):
		return memory.Errorf(memory.KindConflict, "admin_key is a key of role %s: configure another one", key.Role)
	}
	all, err := allKeys(ctx, keys, DefaultApp)
	if err != nil {
		return err
	}
	for _, old := range all {
		if old.Name == api.ConfiguredKey && old.Hash != hash && old.RevokedAt.IsZero() {
			if err := keys.RevokeKey(ctx, old.ID, "", memory.Instant(now())); err != nil {
				return fmt.Errorf("revoke the admin key that was configured before: %w", err)
			}
		}
	}
	return nil
}

// createKey stores a key with an id of its own and the hash of a secret.
func createKey(ctx context.Context, keys db.Keys, now func() time.Time, secret string, k memory.Key) (
	memory.Key, error) {
	k.ID, k.Hash = memory.NewID(), frame.HashKey(secret)
	k.CreatedAt = memory.Instant(now())
	return k, keys.CreateKey(ctx, k)
}

// CreateKey creates a key with the name, app, user, role, mode of memory and access to the pool of like. The app is
// empty if the role is operator. A key of one user has the role read or write. No other call returns the secret.
func CreateKey(ctx context.Context, cfg config.Config, host Host, like memory.Key) (
	secret string, key memory.Key, err error) {
	if faults := api.CheckKey(like); len(faults) > 0 {
		return "", key, memory.Invalid(faults...)
	}
	err = withDatabase(ctx, cfg, zap.NewNop(), func(keys *database) error {
		secret = frame.NewSecret()
		key, err = createKey(ctx, keys, host.Now, secret, memory.Key{
			Name: like.Name, AppID: like.AppID, UserID: like.UserID, Role: like.Role, Memory: like.Memory,
			Pool: like.Pool,
		})
		return err
	})
	return secret, key, err
}

// allKeys lists the keys of an app, or of all apps if appID is empty, oldest first.
func allKeys(ctx context.Context, keys db.Keys, appID string) ([]memory.Key, error) {
	filter := db.KeyFilter{AppID: appID, Limit: memory.MaxPage}
	var all []memory.Key
	for {
		found, err := keys.ListKeys(ctx, filter)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		if len(found) < filter.Limit {
			slices.Reverse(all)
			return all, nil
		}
		last := found[len(found)-1]
		filter.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
	}
}

// ListKeys lists the keys of an app, or of all apps if appID is empty, oldest first.
func ListKeys(ctx context.Context, cfg config.Config, appID string) (list []memory.Key, err error) {
	err = withDatabase(ctx, cfg, zap.NewNop(), func(keys *database) error {
		list, err = allKeys(ctx, keys, appID)
		return err
	})
	return list, err
}

// RevokeKey revokes a key. Running servers refuse it within KeyTTL.
func RevokeKey(ctx context.Context, cfg config.Config, host Host, id string) error {
	return withDatabase(ctx, cfg, zap.NewNop(), func(keys *database) error {
		return keys.RevokeKey(ctx, id, "", memory.Instant(host.Now()))
	})
}
