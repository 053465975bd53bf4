package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// InUser runs f in one transaction, which holds the write lock of every owner from
// its beginning.
func (s *Store) InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error {
	var refused error
	err := s.enqueueing(ctx, func(shared transaction) error {
		tx := shared.tx
		if err := s.Admit(ctx, shared, owner); err != nil {
			return err
		}
		user := &userTx{UserTx: s.UserTx(shared, owner), store: s, tx: tx}
		hash := rowcodec.OwnerHash(owner)
		if err := tx.QueryRowContext(ctx, `SELECT `+sqlstore.NextChange+`?)`, hash).Scan(&user.Change); err != nil {
			return err
		}
		refused = f(ctx, user)
		if refused != nil {
			return refused
		}
		if err := user.StoreActivity(ctx); err != nil {
			return err
		}
		if err := user.AnnounceAll(ctx); err != nil || !user.Changed {
			return err
		}
		_, err := tx.ExecContext(ctx, sqlstore.Revise, hash, user.Change)
		return err
	})
	if refused != nil {
		return refused
	}
	return fault(err, "make the user's changes")
}

// userTx is a db.UserTx: every statement names the owner.
type userTx struct {
	sqlstore.UserTx
	store *Store
	tx    *sql.Tx
}

func (u *userTx) Memories(ctx context.Context, ids []string) ([]memory.Memory, error) {
	found, err := collect(ctx, u.tx, memoryFields, `SELECT `+memoryColumns+` FROM agent_memories
		WHERE id IN (SELECT value FROM json_each(?)) AND +app_id = ? AND +user_id = ?`,
		list(ids), u.Owner.AppID, u.Owner.UserID)
	return found, fault(err, "read the user's memories")
}

func (u *userTx) SameContent(ctx context.Context, agentID, content string) (m memory.Memory, ok bool, err error) {
	m, err = one(ctx, u.tx, memoryFields,
		`SELECT `+memoryColumns+` FROM agent_memories INDEXED BY agent_memories_by_content
		WHERE app_id = ? AND user_id = ? AND agent_id = ? AND content_hash = ? AND content = ?
			AND status = 'active' AND memory_type <> 'message'
		ORDER BY created_at, id LIMIT 1`,
		u.Owner.AppID, u.Owner.UserID, agentID, rowcodec.ContentHash(content), content)
	if errors.Is(err, sql.ErrNoRows) {
		return m, false, nil
	}
	return m, err == nil, fault(err, "look for the same content")
}

func (u *userTx) Recent(ctx context.Context, since time.Time, after int64, limit int) ([]memory.Memory, error) {
	return recent(ctx, u.tx, u.Owner, since, after, limit)
}

func (u *userTx) Insert(ctx context.Context, memories []memory.Memory, claimed time.Time) error {
	return u.insert(ctx, memories, sqlstore.Inserted(claimed))
}

func (u *userTx) Restore(ctx context.Context, memories []memory.Memory, due time.Time) error {
	if err := u.RefuseForeignSuccessors(ctx, memories); err != nil {
		return err
	}
	return u.insert(ctx, memories, sqlstore.Restored(due))
}

func (u *userTx) insert(
	ctx context.Context, memories []memory.Memory, project func(memory.Memory) sqlstore.Projection,
) error {
	if err := u.Writing(memories...); err != nil {
		return err
	}
	err := each(ctx, u.tx, `
		INSERT INTO agent_memories (id, app_id, user_id, agent_id, conversation_id, source_turn_id, speaker, asked,
			content, content_hash,
			memory_type, domain, tags, importance_score, metadata, pinned, status, faded, superseded_by,
			created_at, last_said_at, updated_at, last_accessed_at, access_count, lexemes, revision, embedding_model, embedding,
			vector_state, vector_attempts, vector_since, vector_due, vector_claimed_until, vector_claims, change, expires_at)
		VALUES (?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
		0, ?, ?, ?, ?, ?, ?)`,
		memories, func(m memory.Memory) []any {
			p := project(m)
			return []any{
				m.ID, m.AppID, m.UserID, m.AgentID, m.ConversationID, m.SourceTurnID, m.Speaker, m.Asked, m.Content,
				rowcodec.ContentHash(m.Content),
				m.Type, m.Domain, list(m.Tags), m.Importance, jsonText(m.Metadata), m.Pinned, m.Status, m.Faded,
				m.SupersededBy, moment(m.CreatedAt), instant(m.LastSaidAt), moment(m.UpdatedAt), moment(m.LastAccessedAt),
				m.AccessCount, m.Lexemes, m.Revision,
				m.EmbeddingModel, rowcodec.VectorBytes(m.Embedding),
				p.State, moment(p.Due), moment(p.Due), instant(p.Claimed), p.Claims, u.Change, instant(m.ExpiresAt),
			}
		})
	return fault(err, "store the memories")
}

func (u *userTx) Update(ctx context.Context, m memory.Memory) error {
	if !memory.IsID(m.ID) || m.Owner != u.Owner {
		return notFound("memory", m.ID)
	}
	if err := u.Writing(m); err != nil {
		return err
	}
	if err := u.BeforeUpdate(ctx, m); err != nil {
		return fault(err, "change what depends on the memory")
	}
	result, err := u.tx.ExecContext(ctx, `
		UPDATE agent_memories SET
			agent_id = ?4, conversation_id = ?5, source_turn_id = nullif(?6, ''), content = ?7, content_hash = ?8,
			memory_type = ?9, domain = ?10, tags = ?11, importance_score = ?12, metadata = ?13, pinned = ?14,
			status = ?15, superseded_by = nullif(?16, ''), created_at = ?17, updated_at = ?18,
			last_accessed_at = max(last_accessed_at, ?19),
			lexemes = ?20, embedding_model = ?21, embedding = ?22, revision = ?23, change = ?24, asked = ?25, faded = ?26,
			last_said_at = ?27, expires_at = ?28,
			vector_state = CASE WHEN revision = ?23 THEN vector_state
				WHEN ?15 = 'active' AND ?21 <> '' THEN 'pending' ELSE 'removing' END,
			vector_since = iif(revision = ?23 OR vector_state IN ('pending', 'removing'), vector_since, ?18),
			vector_due = iif(revision = ?23, vector_due, ?18)
		WHERE id = ?1 AND app_id = ?2 AND user_id = ?3`,
		m.ID, m.AppID, m.UserID, m.AgentID, m.ConversationID, m.SourceTurnID, m.Content, rowcodec.ContentHash(m.Content),
		m.Type, m.Domain, list(m.Tags), m.Importance, jsonText(m.Metadata), m.Pinned,
		m.Status, m.SupersededBy, moment(m.CreatedAt), moment(m.UpdatedAt), moment(m.LastAccessedAt),
		m.Lexemes, m.EmbeddingModel, rowcodec.VectorBytes(m.Embedding), m.Revision, u.Change, m.Asked,
		m.Faded, instant(m.LastSaidAt), instant(m.ExpiresAt))
	if n, err := rowsAffected(result, err); err == nil && n == 0 {
		return notFound("memory", m.ID)
	}
	if err == nil {
		err = u.AfterUpdate(ctx, m)
	}
	return fault(err, "change the memory")
}

func (u *userTx) AddEvents(ctx context.Context, events []memory.Event) error {
	u.Happened(events...)
	return u.RestoreEvents(ctx, events)
}

func (u *userTx) RestoreEvents(ctx context.Context, events []memory.Event) error {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.MemoryID
	}
	var foreign bool
	err := u.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM agent_memories
		WHERE id IN (SELECT value FROM json_each(?)) AND (+app_id, +user_id) <> (?, ?))`,
		list(ids), u.Owner.AppID, u.Owner.UserID).Scan(&foreign)
	if err == nil && foreign {
		return memory.Errorf(memory.KindNotFound, "an event is about a memory that the user does not have")
	}
	if err == nil {
		err = each(ctx, u.tx, `INSERT INTO memory_events (app_id, user_id, id, memory_id, kind, cause, detail, at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, events, func(e memory.Event) []any {
			return []any{u.Owner.AppID, u.Owner.UserID, e.ID, e.MemoryID, e.Kind, rowcodec.Storable(e.Cause),
				jsonText(e.Detail), moment(e.At)}
		})
	}
	return fault(err, "store the events")
}
