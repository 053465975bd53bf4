package sqlstore

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

func (s *Store) Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error) {
	owners, err := collect(ctx, s.conn, func(o *memory.Owner) []any { return []any{&o.AppID, &o.UserID} }, `
		SELECT DISTINCT app_id, user_id FROM agent_memories{| INDEXED BY agent_memories_documents}
		WHERE status = 'active' AND (app_id, user_id) > ($1, $2) AND {|+}user_id <> $4 ORDER BY app_id, user_id LIMIT $3`,
		after.AppID, after.UserID, limit, memory.PoolUser)
	return owners, s.fault(err, "list the owners")
}

func (s *Store) Facts(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error) {
	found, err := collect(ctx, s.conn, memoryFields, `
		SELECT `+memoryColumns+` FROM agent_memories{| INDEXED BY agent_memories_facts}
		WHERE app_id = $1 AND user_id = $2 AND updated_at > $3
			AND status = 'active' AND memory_type NOT IN ('message', 'reflection', 'summary')
		ORDER BY updated_at DESC, id DESC LIMIT $4`, owner.AppID, owner.UserID, since, limit)
	return found, s.fault(err, "read the user's newest facts")
}

func (s *Store) Revision(ctx context.Context, owner memory.Owner) (int64, error) {
	revision, known, err := first(ctx, s.conn, only[int64], `SELECT revision FROM revisions WHERE owner_hash = $1`,
		rowcodec.OwnerHash(owner))
	if !known {
		revision = 1
	}
	return revision, s.fault(err, "read the revision of the user's memories")
}

func (s *Store) FactTimes(ctx context.Context, owner memory.Owner, limit int) ([]db.Position, error) {
	found, err := collect(ctx, s.conn, func(p *db.Position) []any { return []any{&p.ID, &p.At} }, `
		SELECT id, updated_at FROM agent_memories{| INDEXED BY agent_memories_facts}
		WHERE app_id = $1 AND user_id = $2
			AND status = 'active' AND memory_type NOT IN ('message', 'reflection', 'summary')
		ORDER BY updated_at DESC, id DESC LIMIT $3`, owner.AppID, owner.UserID, limit)
	return found, s.fault(err, "read when the user's newest facts were changed")
}

func (s *Store) Stale(ctx context.Context, owner memory.Owner, f db.StaleFilter) ([]memory.Memory, error) {
	created := f.Before // no memory was accessed before it was created
	if f.MessagesBefore.After(created) {
		created = f.MessagesBefore
	}
	found, err := collect(ctx, s.conn, memoryFields, `
		SELECT `+memoryColumns+` FROM agent_memories AS m{| INDEXED BY agent_memories_by_time}
		WHERE app_id = $1 AND user_id = $2 AND (created_at, id) > ($3, $4) AND created_at < $5
			AND CASE WHEN memory_type = 'message' THEN last_accessed_at < $6 AND updated_at < $6 ELSE created_at < $7 END
			AND status = 'active' AND access_count < $8 AND NOT pinned AND memory_type <> 'reflection'
			AND (memory_type <> 'summary' OR conversation_id = '')
			AND NOT EXISTS (SELECT 1 FROM memory_relations AS r JOIN agent_memories AS s ON s.id = r.from_id
				WHERE r.to_id = m.id AND r.kind = 'derived_from' AND s.memory_type = 'summary')
		ORDER BY created_at, id LIMIT $9`, owner.AppID, owner.UserID, f.After.At, orLeast(f.After.ID), created,
		f.MessagesBefore, f.Before, f.Accesses, f.Limit)
	return found, s.fault(err, "read the user's old memories")
}

// orLeast is id, or an id below all others if it is empty.
func orLeast(id string) string {
	if id == "" {
		return uuid.Nil.String()
	}
	return id
}

func (s *Store) Purgeable(ctx context.Context, before time.Time, limit int) ([]memory.Memory, error) {
	found, err := collect(ctx, s.conn, memoryFields, `
		SELECT `+memoryColumns+` FROM agent_memories{| INDEXED BY agent_memories_purgeable}
		WHERE status = 'forgotten' AND vector_state = 'absent' AND updated_at < $1
		ORDER BY updated_at, id LIMIT $2`, before, limit)
	return found, s.fault(err, "list what can be purged")
}

func (s *Store) Projected(ctx context.Context, after string, limit int) ([]db.Projected, error) {
	found, err := collect(ctx, s.conn, func(p *db.Projected) []any {
		return append(memoryFields(&p.Memory), &p.Vector, &p.UpdatedAt)
	}, `SELECT `+memoryColumns+`, vector_state, {greatest(vector_due, vector_claimed_until, vector_synced_at)
			|max(vector_due, coalesce(vector_claimed_until, vector_due), coalesce(vector_synced_at, vector_due))}
		FROM agent_memories WHERE id > $1 ORDER BY id LIMIT $2`, orLeast(after), limit)
	for i := range found {
		found[i].Memory.Lexemes = ""
	}
	return found, s.fault(err, "read what the vector store should show")
}

func (s *Store) Requeue(ctx context.Context, ids []string, at time.Time) (int, error) {
	n, err := s.exec(ctx, `
		{WITH mine AS (SELECT id FROM agent_memories WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE)|}
		UPDATE agent_memories AS m SET
			vector_state = CASE WHEN status = 'active' AND embedding_model <> '' THEN 'pending' ELSE 'removing' END,
			vector_since = CASE WHEN vector_state IN ('pending', 'removing') THEN vector_since ELSE $2 END,
			vector_due = $2, vector_again = vector_claimed_until IS NOT NULL
		{FROM mine WHERE m.id = mine.id|WHERE id = ANY($1)}`, validIDs(ids), at)
	return n, s.fault(err, "requeue the pushes")
}

func (s *Store) State(ctx context.Context, owner memory.Owner) (db.UserState, error) {
	return state(ctx, s.conn, owner)
}

func (u *UserTx) State(ctx context.Context) (db.UserState, error) { return state(ctx, u.conn, u.Owner) }

func state(ctx context.Context, c conn, owner memory.Owner) (db.UserState, error) {
	noted, _, err := first(ctx, c,
		func(s *db.UserState) []any { return []any{&s.ReflectedAt, &s.CompressedAt, &s.Erased, &s.ErasedAt} }, `
		SELECT s.reflected_at, s.compressed_at, coalesce(e.round - (e.state = 'erasing')::int, 0), e.done_at
		FROM (SELECT 1) AS always LEFT JOIN user_states AS s ON s.app_id = $1 AND s.user_id = $2
			LEFT JOIN erasures AS e ON e.owner_hash = $3`, owner.AppID, owner.UserID, rowcodec.OwnerHash(owner))
	return noted, c.fault(err, "read the user's state")
}

func (u *UserTx) SetState(ctx context.Context, s db.UserState) error {
	_, err := u.exec(ctx, `
		INSERT INTO user_states (app_id, user_id, reflected_at, compressed_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (app_id, user_id) DO UPDATE SET reflected_at = $3, compressed_at = $4`,
		u.Owner.AppID, u.Owner.UserID, null(s.ReflectedAt), null(s.CompressedAt))
	return u.fault(err, "note the user's state")
}

// Purge deletes the memories with these ids that are forgotten and gone from the vector store. Their relations are
// deleted with them, by foreign keys or a trigger.
func (u *UserTx) Purge(ctx context.Context, ids []string) ([]string, error) {
	u.Changed = true
	purged, err := collect(ctx, u.conn, only[string], `SELECT id FROM agent_memories
		WHERE id = ANY($3::uuid[]) AND {|+}app_id = $1 AND {|+}user_id = $2
			AND {|+}status = 'forgotten' AND {|+}vector_state = 'absent' {ORDER BY id FOR UPDATE|}`,
		u.Owner.AppID, u.Owner.UserID, validIDs(ids))
	if err == nil {
		_, err = u.exec(ctx, `UPDATE revisions SET complete_after = {greatest|max}(complete_after,
			(SELECT coalesce(max(change), 0) FROM agent_memories
				WHERE id = ANY($2::uuid[]) AND {|+}app_id = $3 AND {|+}user_id = $4)) WHERE owner_hash = $1`,
			rowcodec.OwnerHash(u.Owner), purged, u.Owner.AppID, u.Owner.UserID)
	}
	if err == nil { // an index that was stored before holds words of the purged memories
		_, err = u.exec(ctx, `DELETE FROM indexes WHERE app_id = $1 AND user_id = $2
			AND revision < (SELECT complete_after FROM revisions WHERE owner_hash = $3)`,
			u.Owner.AppID, u.Owner.UserID, rowcodec.OwnerHash(u.Owner))
	}
	if err == nil { // it may have words of the purged memories
		_, err = u.exec(ctx, `DELETE FROM filled_profiles WHERE app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID)
	}
	if err == nil {
		_, err = u.exec(ctx, `DELETE FROM feedback WHERE app_id = $1 AND user_id = $2 AND memory_id = ANY($3::uuid[])`,
			u.Owner.AppID, u.Owner.UserID, purged)
	}
	if err == nil { // the lines of what has faded stay
		var lost []string
		lost, err = collect(ctx, u.conn, only[string], `SELECT id FROM agent_memories
			WHERE id = ANY($3::uuid[]) AND {|+}app_id = $1 AND {|+}user_id = $2 AND NOT faded`,
			u.Owner.AppID, u.Owner.UserID, purged)
		if err == nil {
			err = u.RemoveLines(ctx, lost)
		}
	}
	if err == nil && u.Owner.IsPool() {
		_, err = u.exec(ctx, `DELETE FROM pooled WHERE id = ANY($1::uuid[]) AND {|+}app_id = $2`, purged, u.Owner.AppID)
	}
	if err == nil {
		_, err = u.deleteMemories(ctx, u.Owner, purged)
	}
	if err == nil { // an insight that was concluded from a purged memory can never be approved
		_, err = u.exec(ctx, `DELETE FROM proposed_insights AS p WHERE p.app_id = $1 AND p.user_id = $2 AND NOT `+stands,
			u.Owner.AppID, u.Owner.UserID)
	}
	if err == nil && len(purged) > 0 { // they have its words
		_, err = u.exec(ctx, `DELETE FROM announcements WHERE app_id = $1 AND user_id = $2
			AND data->>'memory_id' = ANY($3::text[])`, u.Owner.AppID, u.Owner.UserID, purged)
	}
	return purged, u.fault(err, "purge the memories")
}

// deleteMemories deletes memories of the owner with their embeddings, and returns how many.
func (c conn) deleteMemories(ctx context.Context, owner memory.Owner, ids []string) (int, error) {
	const ofOwner = ` = ANY($1::uuid[]) AND {|+}app_id = $2 AND {|+}user_id = $3`
	if err := c.deleteEpisodes(ctx, owner, ids); err != nil {
		return 0, err
	}
	if c.dialect == Postgres { // on SQLite an embedding is a column of its memory
		_, err := c.exec(ctx, `DELETE FROM embeddings WHERE memory_id`+ofOwner, ids, owner.AppID, owner.UserID)
		if err != nil {
			return 0, err
		}
	}
	return c.exec(ctx, `DELETE FROM agent_memories WHERE id`+ofOwner, ids, owner.AppID, owner.UserID)
}
