package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/internal/memory"
)

const keyColumns = `id, hash, name, app_id, role, created_at, revoked_at`

func scanKey(row pgx.CollectableRow) (k memory.Key, err error) {
	var revoked *time.Time
	err = row.Scan(&k.ID, &k.Hash, &k.Name, &k.AppID, &k.Role, &k.CreatedAt, &revoked)
	if revoked != nil {
		k.RevokedAt = *revoked
	}
	return k, err
}

// CreateKey stores a key. KindConflict: its id or hash exists already.
func (s *Store) CreateKey(ctx context.Context, k memory.Key) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO api_keys (`+keyColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		k.ID, k.Hash, k.Name, k.AppID, k.Role, k.CreatedAt, orNull(k.RevokedAt))
	return fault(err, "store the key")
}

// KeyByHash finds a key, revoked or not.
func (s *Store) KeyByHash(ctx context.Context, hash string) (memory.Key, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE hash = $1`, hash)
	k, err := pgx.CollectExactlyOneRow(rows, scanKey)
	if errors.Is(err, pgx.ErrNoRows) {
		return k, memory.Errorf(memory.KindNotFound, "no key has this hash")
	}
	return k, fault(err, "find the key")
}

// ListKeys lists the keys of an app, or of all apps when it is empty, oldest first.
func (s *Store) ListKeys(ctx context.Context, appID string) ([]memory.Key, error) {
	sql, args := `SELECT `+keyColumns+` FROM api_keys`, []any(nil)
	if appID != "" {
		sql, args = sql+` WHERE app_id = $1`, []any{appID}
	}
	rows, _ := s.pool.Query(ctx, sql+` ORDER BY created_at, id`, args...)
	keys, err := pgx.CollectRows(rows, scanKey)
	return keys, fault(err, "list the keys")
}

// RevokeKey ends a key from at on; one that was revoked before stays as it is.
func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) error {
	if !memory.IsID(id) {
		return notFound("key", id)
	}
	tag, err := s.pool.Exec(ctx, `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1`, id, at)
	if err == nil && tag.RowsAffected() == 0 {
		return notFound("key", id)
	}
	return fault(err, "revoke the key")
}
