package postgres

import (
	"context"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// InUser runs f in one transaction that holds the owner's write lock: a lock of
// this process, for which writers wait without a connection, so that one busy user
// does not use up the pool, and a transaction-scoped advisory lock among processes.
// READ COMMITTED is enough. Every change of this owner's rows holds the lock, except
// touches and vector bookkeeping, whose columns f never writes back.
func (s *Store) InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error {
	release, err := s.ownerLocks.acquire(ctx, owner)
	if err != nil {
		return fault(err, "wait for the user's other writes")
	}
	defer release()
	err = again(ctx, func() error { return s.inUser(ctx, owner, s.vectors, f) })
	if refused := (refusedVectors{}); errors.As(err, &refused) {
		s.log.WarnContext(ctx, "memories are written without their vectors, which are pushed later", "error", err)
		err = again(ctx, func() error { return s.inUser(ctx, owner, nil, f) })
	}
	return err
}

// userTx is a db.UserTx: every statement names the owner.
type userTx struct {
	sqlstore.UserTx
	tx      session
	vectors vectorWrites
}

// Memories returns those of the ids that exist, in any status, with embeddings.
func (u *userTx) Memories(ctx context.Context, ids []string) ([]memory.Memory, error) {
	found, err := memories(ctx, u.tx, `SELECT `+memoryColumns+` FROM agent_memories
		WHERE id = `+among+` AND app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID, onlyIDs(ids))
	return found, fault(err, "read the user's memories")
}

// SameContent returns the oldest active memory with exactly this agent and content.
func (u *userTx) SameContent(ctx context.Context, agentID, content string) (m memory.Memory, ok bool, err error) {
	found, err := memories(ctx, u.tx, `SELECT `+memoryColumns+` FROM agent_memories
		WHERE app_id = $1 AND user_id = $2 AND agent_id = $3 AND content_hash = $4 AND content = $5 AND status = 'active'
		ORDER BY created_at, id LIMIT 1`,
		u.Owner.AppID, u.Owner.UserID, agentID, rowcodec.ContentHash(content), content)
	if err != nil || len(found) == 0 {
		return m, false, fault(err, "look for the same content")
	}
	return found[0], true, nil
}

// Unconfirmed is Store.Unconfirmed within the transaction.
func (u *userTx) Unconfirmed(ctx context.Context, since time.Time, limit int) ([]memory.Memory, error) {
	found, err := memories(ctx, u.tx, unconfirmed, u.Owner.AppID, u.Owner.UserID, since, limit)
	return found, fault(err, "read the user's newest writes")
}
