package sqlstore

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// afterAll is later than any time that is stored.
var afterAll = time.Date(2201, 1, 1, 0, 0, 0, 0, time.UTC)

const keyColumns = `id, hash, name, app_id, user_id, role, created_at, created_by, revoked_at, revoked_by, memory,
	pool`

func keyFields(k *memory.Key) []any {
	return []any{&k.ID, &k.Hash, &k.Name, &k.AppID, &k.UserID, &k.Role, &k.CreatedAt, &k.CreatedBy, &k.RevokedAt,
		&k.RevokedBy, &k.Memory, &k.Pool}
}

func (s *Store) CreateKey(ctx context.Context, k memory.Key) error {
	n, err := s.exec(ctx, `INSERT INTO api_keys (`+keyColumns+`)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
		WHERE {$6::text|$6} = 'operator' OR (SELECT count(*) FROM api_keys 
			WHERE app_id = $4 AND role <> 'operator' AND revoked_at IS NULL) < $13`,
		k.ID, k.Hash, k.Name, k.AppID, k.UserID, k.Role, k.CreatedAt, k.CreatedBy, null(k.RevokedAt), k.RevokedBy,
		k.Memory, k.Pool, memory.MaxKeys)
	return s.require(n > 0, err, "store the key", memory.Errorf(memory.KindConflict,
		"the app has %d valid keys, and no more are allowed: revoke one first", memory.MaxKeys))
}

func (s *Store) Key(ctx context.Context, id string) (memory.Key, error) {
	if !memory.IsID(id) {
		return memory.Key{}, NotFound("key", id)
	}
	k, ok, err := first(ctx, s.conn, keyFields, `SELECT `+keyColumns+` FROM api_keys WHERE id = $1`, id)
	return k, s.require(ok, err, "find the key", NotFound("key", id))
}

func (s *Store) KeyByHash(ctx context.Context, hash string) (memory.Key, error) {
	k, ok, err := first(ctx, s.conn, keyFields, `SELECT `+keyColumns+` FROM api_keys WHERE hash = $1`, hash)
	return k, s.require(ok, err, "find the key", memory.Errorf(memory.KindNotFound, "no key has this hash"))
}

func (s *Store) ListKeys(ctx context.Context, f db.KeyFilter) ([]memory.Key, error) {
	var where Conditions
	index := `{| INDEXED BY api_keys_by_time}`
	if f.AppID != "" {
		index = `{| INDEXED BY api_keys_by_app}`
		where.Add(`app_id = ?`, f.AppID)
	}
	if p := f.Before; p != nil {
		where.Add(`(created_at, id) < (?, ?)`, p.At, p.ID)
	} else {
		where.Add(`created_at < ?`, afterAll) // so that the first page of all apps also searches the index
	}
	if f.WithoutOperators {
		where.Add(`role <> 'operator'`)
	}
	keys, err := page(ctx, s.conn, keyFields, `SELECT `+keyColumns+` FROM api_keys`+index+` WHERE `,
		where, `created_at DESC, id DESC`, f.Limit)
	return keys, s.fault(err, "list the keys")
}

func (s *Store) RevokeKey(ctx context.Context, id, by string, at time.Time) error {
	if !memory.IsID(id) {
		return NotFound("key", id)
	}
	n, err := s.exec(ctx, `UPDATE api_keys
		SET revoked_by = CASE WHEN revoked_at IS NULL THEN $3 ELSE revoked_by END, revoked_at = coalesce(revoked_at, $2)
		WHERE id = $1`, id, at, by)
	return s.require(n > 0, err, "revoke the key", NotFound("key", id))
}
