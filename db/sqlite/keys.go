package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hippocampus/internal/memory"
)

const keyColumns = `id, hash, name, app_id, role, created_at, revoked_at`

func keyFields(k *memory.Key) []any {
	return []any{&k.ID, &k.Hash, &k.Name, &k.AppID, &k.Role, (*instant)(&k.CreatedAt), (*instant)(&k.RevokedAt)}
}

// CreateKey stores a key. KindConflict: its id or hash exists already.
func (s *Store) CreateKey(ctx context.Context, k memory.Key) error {
	_, err := s.exec(ctx, `INSERT INTO api_keys (`+keyColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		k.ID, k.Hash, k.Name, k.AppID, k.Role, moment(k.CreatedAt), instant(k.RevokedAt))
	return fault(err, "store the key")
}

// KeyByHash finds a key, revoked or not.
func (s *Store) KeyByHash(ctx context.Context, hash string) (memory.Key, error) {
	k, err := one(ctx, s.reader, keyFields, `SELECT `+keyColumns+` FROM api_keys WHERE hash = ?`, hash)
	if errors.Is(err, sql.ErrNoRows) {
		return k, memory.Errorf(memory.KindNotFound, "no key has this hash")
	}
	return k, fault(err, "find the key")
}

// ListKeys lists the keys of an app, or of all apps when it is empty, oldest first.
func (s *Store) ListKeys(ctx context.Context, appID string) ([]memory.Key, error) {
	query, args := `SELECT `+keyColumns+` FROM api_keys`, []any(nil)
	if appID != "" {
		query, args = query+` WHERE app_id = ?`, []any{appID}
	}
	keys, err := collect(ctx, s.reader, keyFields, query+` ORDER BY created_at, id`, args...)
	return keys, fault(err, "list the keys")
}

// RevokeKey ends a key from at on; one that was revoked before stays as it is.
func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) error {
	result, err := s.exec(ctx, `UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?`, moment(at), id)
	if err == nil && affected(result) == 0 {
		return notFound("key", id)
	}
	return fault(err, "revoke the key")
}
