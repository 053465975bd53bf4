package sqlite

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// Owners pages through the owners that have active memories.
func (s *Store) Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error) {
	owners, err := collect(ctx, s.reader, func(o *memory.Owner) []any { return []any{&o.AppID, &o.UserID} }, `
		SELECT DISTINCT app_id, user_id FROM agent_memories INDEXED BY agent_memories_documents
		WHERE status = 'active' AND (app_id, user_id) > (?, ?) ORDER BY app_id, user_id LIMIT ?`, after.AppID, after.UserID, limit)
	return owners, fault(err, "list the owners")
}

// Facts lists the owner's active memories that were changed after since and are not made from others.
func (s *Store) Facts(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error) {
	found, err := collect(ctx, s.reader, memoryFields, `
		SELECT `+withoutVectors+` FROM agent_memories INDEXED BY agent_memories_facts
		WHERE app_id = ? AND user_id = ? AND updated_at > ?
			AND status = 'active' AND memory_type NOT IN ('reflection', 'summary')
		ORDER BY updated_at DESC, id DESC LIMIT ?`, owner.AppID, owner.UserID, moment(since), limit)
	return found, fault(err, "read the user's newest facts")
}

// Stale lists the owner's old and rarely accessed memories that no summary stands for.
func (s *Store) Stale(ctx context.Context, owner memory.Owner, before time.Time, accesses int, after db.Position, limit int) ([]memory.Memory, error) {
	found, err := collect(ctx, s.reader, memoryFields, `
		SELECT `+memoryColumns+` FROM agent_memories AS m INDEXED BY agent_memories_by_time
		WHERE app_id = ? AND user_id = ? AND (created_at, id) > (?, ?) AND created_at < ?
			AND status = 'active' AND access_count < ? AND NOT pinned AND memory_type NOT IN ('reflection', 'summary')
			AND NOT EXISTS (SELECT 1 FROM memory_relations AS r JOIN agent_memories AS s ON s.id = r.from_id
				WHERE r.to_id = m.id AND r.kind = 'derived_from' AND s.memory_type = 'summary')
		ORDER BY created_at, id LIMIT ?`, owner.AppID, owner.UserID, moment(after.At), after.ID, moment(before), accesses, limit)
	return found, fault(err, "read the user's old memories")
}

// Purgeable lists memories that were forgotten before an instant and are gone from the vector store.
func (s *Store) Purgeable(ctx context.Context, before time.Time, limit int) ([]memory.Memory, error) {
	found, err := collect(ctx, s.reader, memoryFields, `
		SELECT `+withoutVectors+` FROM agent_memories INDEXED BY agent_memories_purgeable
		WHERE status = 'forgotten' AND vector_state = 'absent' AND updated_at < ?
		ORDER BY updated_at, id LIMIT ?`, moment(before), limit)
	return found, fault(err, "list what can be purged")
}

// Ages calls f with what the retention of each active memory of the app is computed from.
func (s *Store) Ages(ctx context.Context, appID string, f func(db.Age) error) error {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT created_at, last_accessed_at, access_count, importance_score, memory_type, pinned
		FROM agent_memories WHERE app_id = ? AND status = 'active'`, appID)
	if err != nil {
		return fault(err, "read the ages of the app's memories")
	}
	defer rows.Close()
	for rows.Next() {
		var a db.Age
		err := rows.Scan((*instant)(&a.CreatedAt), (*instant)(&a.LastAccessedAt), &a.AccessCount, &a.Importance, &a.Type, &a.Pinned)
		if err != nil {
			return fault(err, "read the age of a memory")
		}
		if err := f(a); err != nil {
			return err
		}
	}
	return fault(rows.Err(), "read the ages of the app's memories")
}

// Projected lists memories of any owner, in id order, as the vector store should show them.
func (s *Store) Projected(ctx context.Context, after string, limit int) ([]db.Projected, error) {
	found, err := collect(ctx, s.reader, func(p *db.Projected) []any {
		return append(memoryFields(&p.Memory), &p.Vector, (*instant)(&p.UpdatedAt))
	}, `SELECT `+withoutVectors+`, vector_state,
			max(vector_due, coalesce(vector_claimed_until, vector_due), coalesce(vector_synced_at, vector_due))
		FROM agent_memories WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
	for i := range found {
		found[i].Memory.Lexemes = ""
	}
	return found, fault(err, "read what the vector store should show")
}

// Requeue makes rows due again, whatever their vector state was.
func (s *Store) Requeue(ctx context.Context, ids []string, at time.Time) (int, error) {
	result, err := s.exec(ctx, `
		UPDATE agent_memories SET
			vector_state = iif(status = 'active', 'pending', 'removing'),
			vector_since = iif(vector_state IN ('pending', 'removing'), vector_since, ?1),
			vector_due = ?1, vector_again = vector_claimed_until IS NOT NULL
		WHERE id IN (SELECT value FROM json_each(?2))`, moment(at), list(ids))
	if err != nil {
		return 0, fault(err, "requeue the pushes")
	}
	return int(affected(result)), nil
}

// State returns what upkeep has noted of an owner.
func (s *Store) State(ctx context.Context, owner memory.Owner) (db.UserState, error) {
	return state(ctx, s.reader, owner)
}

// State is Store.State within the transaction.
func (u *userTx) State(ctx context.Context) (db.UserState, error) { return state(ctx, u.tx, u.Owner) }

func state(ctx context.Context, q querier, owner memory.Owner) (db.UserState, error) {
	noted, err := one(ctx, q, func(s *db.UserState) []any {
		return []any{(*instant)(&s.ReflectedAt), (*instant)(&s.CompressedAt), &s.Erased}
	}, `SELECT s.reflected_at, s.compressed_at, coalesce(e.round - (e.state = 'erasing'), 0)
		FROM (SELECT 1) LEFT JOIN user_states AS s ON s.app_id = ? AND s.user_id = ? LEFT JOIN erasures AS e ON e.owner_hash = ?`,
		owner.AppID, owner.UserID, rowcodec.OwnerHash(owner))
	return noted, fault(err, "read the user's state")
}

// SetState notes s of the owner.
func (u *userTx) SetState(ctx context.Context, s db.UserState) error {
	_, err := u.tx.ExecContext(ctx, `
		INSERT INTO user_states (app_id, user_id, reflected_at, compressed_at) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (app_id, user_id) DO UPDATE SET reflected_at = ?3, compressed_at = ?4`,
		u.Owner.AppID, u.Owner.UserID, instant(s.ReflectedAt), instant(s.CompressedAt))
	return fault(err, "note the user's state")
}

// Purge deletes those of the ids that are forgotten and gone from the vector
// store. Their relations go with them, by the foreign keys.
func (u *userTx) Purge(ctx context.Context, ids []string) ([]string, error) {
	u.Changed = true
	purged, err := collect(ctx, u.tx, func(id *string) []any { return []any{id} }, `
		DELETE FROM agent_memories WHERE id IN (SELECT value FROM json_each(?)) AND +app_id = ? AND +user_id = ?
			AND +status = 'forgotten' AND +vector_state = 'absent'
		RETURNING id`, list(ids), u.Owner.AppID, u.Owner.UserID)
	return purged, fault(err, "purge the memories")
}
