package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// Owners pages through the owners that have active memories.
func (s *Store) Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT DISTINCT app_id, user_id FROM agent_memories WHERE status = 'active' AND (app_id, user_id) > ($1, $2)
		ORDER BY app_id, user_id LIMIT $3`, after.AppID, after.UserID, limit)
	owners, err := pgx.CollectRows(rows, pgx.RowToStructByPos[memory.Owner])
	return owners, fault(err, "list the owners")
}

// Facts lists the owner's active memories that were changed after since and are not made from others.
func (s *Store) Facts(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error) {
	found, err := memories(ctx, s.pool, `
		SELECT `+withoutVectors+` FROM agent_memories
		WHERE app_id = $1 AND user_id = $2 AND updated_at > $3
			AND status = 'active' AND memory_type NOT IN ('reflection', 'summary')
		ORDER BY updated_at DESC, id DESC LIMIT $4`, owner.AppID, owner.UserID, since, limit)
	return found, fault(err, "read the user's newest facts")
}

// Stale lists the owner's old and rarely accessed memories that no summary stands for.
func (s *Store) Stale(ctx context.Context, owner memory.Owner, before time.Time, accesses int, after db.Position, limit int) ([]memory.Memory, error) {
	if after.ID == "" {
		after.ID = uuid.Nil.String()
	}
	found, err := memories(ctx, s.pool, `
		SELECT `+memoryColumns+` FROM agent_memories AS m
		WHERE app_id = $1 AND user_id = $2 AND (created_at, id) > ($3, $4) AND created_at < $5
			AND status = 'active' AND access_count < $6 AND NOT pinned AND memory_type NOT IN ('reflection', 'summary')
			AND NOT EXISTS (SELECT 1 FROM memory_relations AS r JOIN agent_memories AS s ON s.id = r.from_id
				WHERE r.to_id = m.id AND r.kind = 'derived_from' AND s.memory_type = 'summary')
		ORDER BY created_at, id LIMIT $7`, owner.AppID, owner.UserID, after.At, after.ID, before, accesses, limit)
	return found, fault(err, "read the user's old memories")
}

// Purgeable lists memories that were forgotten before an instant and are gone from the vector store.
func (s *Store) Purgeable(ctx context.Context, before time.Time, limit int) ([]memory.Memory, error) {
	found, err := memories(ctx, s.pool, `
		SELECT `+withoutVectors+` FROM agent_memories
		WHERE status = 'forgotten' AND vector_state = 'absent' AND updated_at < $1
		ORDER BY updated_at, id LIMIT $2`, before, limit)
	return found, fault(err, "list what can be purged")
}

// Ages calls f with what the retention of each active memory of the app is computed from.
func (s *Store) Ages(ctx context.Context, appID string, f func(db.Age) error) error {
	rows, _ := s.pool.Query(ctx, `
		SELECT created_at, last_accessed_at, access_count, importance_score, memory_type, pinned
		FROM agent_memories WHERE app_id = $1 AND status = 'active'`, appID)
	var a db.Age
	var refused error
	_, err := pgx.ForEachRow(rows,
		[]any{&a.CreatedAt, &a.LastAccessedAt, &a.AccessCount, &a.Importance, &a.Type, &a.Pinned},
		func() error {
			refused = f(a)
			return refused
		})
	if refused != nil {
		return refused
	}
	return fault(err, "read the ages of the app's memories")
}

// Projected lists memories of any owner, in id order, as the vector store should show them.
func (s *Store) Projected(ctx context.Context, after string, limit int) ([]db.Projected, error) {
	if after == "" {
		after = uuid.Nil.String()
	}
	rows, _ := s.pool.Query(ctx, `
		SELECT `+withoutVectors+`, vector_state, greatest(vector_due, vector_claimed_until, vector_synced_at)
		FROM agent_memories WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p db.Projected, err error) {
		err = row.Scan(append(memoryFields(&p.Memory), &p.Vector, &p.UpdatedAt)...)
		p.Memory.Lexemes = ""
		return p, err
	})
	return found, fault(err, "read what the vector store should show")
}

// Requeue makes rows due again, whatever their vector state was.
func (s *Store) Requeue(ctx context.Context, ids []string, at time.Time) (int, error) {
	var tag pgconn.CommandTag
	err := again(ctx, func() (err error) {
		tag, err = s.pool.Exec(ctx, `
			WITH mine AS (SELECT id FROM agent_memories WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE)
			UPDATE agent_memories m SET
				vector_state = CASE WHEN status = 'active' THEN 'pending' ELSE 'removing' END,
				vector_since = CASE WHEN vector_state IN ('pending', 'removing') THEN vector_since ELSE $2 END,
				vector_due = $2, vector_again = vector_claimed_until IS NOT NULL
			FROM mine WHERE m.id = mine.id`, onlyIDs(ids), at)
		return err
	})
	return int(tag.RowsAffected()), fault(err, "requeue the pushes")
}

// State returns what upkeep has noted of an owner.
func (s *Store) State(ctx context.Context, owner memory.Owner) (db.UserState, error) {
	return state(ctx, s.pool, owner)
}

// State is Store.State within the transaction.
func (u *userTx) State(ctx context.Context) (db.UserState, error) { return state(ctx, u.tx, u.Owner) }

func state(ctx context.Context, q querier, owner memory.Owner) (noted db.UserState, err error) {
	// A failed query reports its error through the rows.
	rows, _ := q.Query(ctx, `SELECT s.reflected_at, s.compressed_at, coalesce(e.round - (e.state = 'erasing')::int, 0)
		FROM (SELECT 1) AS always LEFT JOIN user_states AS s ON s.app_id = $1 AND s.user_id = $2 LEFT JOIN erasures AS e ON e.owner_hash = $3`,
		owner.AppID, owner.UserID, rowcodec.OwnerHash(owner))
	noted, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (n db.UserState, err error) {
		var reflected, compressed *time.Time
		err = row.Scan(&reflected, &compressed, &n.Erased)
		n.ReflectedAt, n.CompressedAt = orZero(reflected), orZero(compressed)
		return n, err
	})
	return noted, fault(err, "read the user's state")
}

// SetState notes s of the owner.
func (u *userTx) SetState(ctx context.Context, s db.UserState) error {
	_, err := u.tx.Exec(ctx, `
		INSERT INTO user_states (app_id, user_id, reflected_at, compressed_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (app_id, user_id) DO UPDATE SET reflected_at = $3, compressed_at = $4`,
		u.Owner.AppID, u.Owner.UserID, orNull(s.ReflectedAt), orNull(s.CompressedAt))
	return fault(err, "note the user's state")
}

// orZero is the inverse of orNull.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Purge deletes those of the ids that are forgotten and gone from the vector
// store. Their relations go with them, by the foreign keys.
func (u *userTx) Purge(ctx context.Context, ids []string) ([]string, error) {
	u.Changed = true
	rows, _ := u.tx.Query(ctx, `
		WITH mine AS (
			SELECT id FROM agent_memories WHERE id = ANY($3::uuid[]) AND app_id = $1 AND user_id = $2
				AND status = 'forgotten' AND vector_state = 'absent'
			ORDER BY id FOR UPDATE),
		embedded AS (DELETE FROM embeddings e USING mine WHERE e.memory_id = mine.id)
		DELETE FROM agent_memories m USING mine WHERE m.id = mine.id RETURNING m.id`,
		u.Owner.AppID, u.Owner.UserID, onlyIDs(ids))
	purged, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return purged, fault(err, "purge the memories")
}
