package sqlstore

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

const keyColumns = `id, hash, name, app_id, role, created_at, revoked_at`

func keyFields(k *memory.Key) []any {
	return []any{&k.ID, &k.Hash, &k.Name, &k.AppID, &k.Role, &k.CreatedAt, &k.RevokedAt}
}

func (s *Store) CreateKey(ctx context.Context, k memory.Key) error {
	_, err := s.exec(ctx, `INSERT INTO api_keys (`+keyColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		k.ID, k.Hash, k.Name, k.AppID, k.Role, k.CreatedAt, null(k.RevokedAt))
	return s.fault(err, "store the key")
}

func (s *Store) KeyByHash(ctx context.Context, hash string) (memory.Key, error) {
	k, ok, err := first(ctx, s.conn, keyFields, `SELECT `+keyColumns+` FROM api_keys WHERE hash = $1`, hash)
	return k, s.require(ok, err, "find the key", memory.Errorf(memory.KindNotFound, "no key has this hash"))
}

func (s *Store) ListKeys(ctx context.Context, appID string) ([]memory.Key, error) {
	query, args := `SELECT `+keyColumns+` FROM api_keys`, []any(nil)
	if appID != "" {
		query, args = query+` WHERE app_id = $1`, []any{appID}
	}
	keys, err := collect(ctx, s.conn, keyFields, query+` ORDER BY created_at, id`, args...)
	return keys, s.fault(err, "list the keys")
}

func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) error {
	if !memory.IsID(id) {
		return NotFound("key", id)
	}
	n, err := s.exec(ctx, `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1`, id, at)
	return s.require(n > 0, err, "revoke the key", NotFound("key", id))
}
