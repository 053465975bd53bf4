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
	err := s.write(ctx, func(tx *sql.Tx) error {
		shared := transaction{tx, s.jobs}
		if err := s.Admit(ctx, shared, owner); err != nil {
			return err
		}
		user := &userTx{UserTx: s.UserTx(shared, owner), tx: tx}
		refused = f(ctx, user)
		if refused != nil {
			return refused
		}
		if err := user.AnnounceAll(ctx); err != nil || !user.Changed {
			return err
		}
		_, err := tx.ExecContext(ctx, revise, rowcodec.OwnerHash(owner), rowcodec.NewRevision())
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
	tx *sql.Tx
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

func (u *userTx) Unconfirmed(ctx context.Context, since time.Time, limit int) ([]memory.Memory, error) {
	return unconfirmed(ctx, u.tx, u.Owner, since, limit)
}
