package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// InUser runs f in one transaction that holds the owner's write lock: within
// this process a lock that is waited for without a connection, so that one busy
// user does not use up the pool, and among processes a transaction-scoped
// advisory lock. READ COMMITTED is enough: whoever changes this owner's rows
// holds the lock, but for touches and vector bookkeeping, whose columns no f
// writes back.
func (s *Store) InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error {
	leave, err := s.writers.enter(ctx, owner)
	if err != nil {
		return fault(err, "wait for the user's other writes")
	}
	defer leave()
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

// FinishTurn makes an accepted turn processed.
func (u *userTx) FinishTurn(ctx context.Context, turnID string, attempts int, at time.Time) error {
	if !memory.IsID(turnID) {
		return notFound("turn", turnID)
	}
	tag, err := u.tx.Exec(ctx, `UPDATE turns SET status = 'processed', attempts = $4, last_error = '', processed_at = $5
		WHERE id = $1 AND app_id = $2 AND user_id = $3 AND status = 'accepted'`, turnID, u.Owner.AppID, u.Owner.UserID, attempts, at)
	if err != nil || tag.RowsAffected() == 1 {
		return fault(err, "finish the turn")
	}
	var status memory.TurnStatus
	err = u.tx.QueryRow(ctx, `SELECT status FROM turns WHERE id = $1 AND app_id = $2 AND user_id = $3`,
		turnID, u.Owner.AppID, u.Owner.UserID).Scan(&status)
	if errors.Is(err, pgx.ErrNoRows) {
		return notFound("turn", turnID)
	}
	if err != nil {
		return fault(err, "read the turn")
	}
	return memory.Errorf(memory.KindConflict, "turn %s is %s: it has been finished by another worker", turnID, status)
}
