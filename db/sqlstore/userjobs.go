package sqlstore

import (
	"context"
	"errors"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *Store) EnqueueForUser(ctx context.Context, owner memory.Owner, erased int, job db.Job) error {
	return s.enqueueFor(ctx, owner, job, func(c conn) (bool, error) {
		now, err := state(ctx, c, owner)
		return now.Erased == erased, err
	})
}

func (s *Store) EnqueueForConversation(ctx context.Context, c memory.Conversation, job db.Job) error {
	return s.enqueueFor(ctx, c.Owner, job, func(on conn) (bool, error) {
		now, ok, err := first(ctx, on, conversationFields, conversationByID, c.AppID, c.UserID, c.ID)
		return ok && now.FirstTurnID == c.FirstTurnID, err
	})
}

// Enqueue is Jobs.Enqueue in the transaction.
func (u *UserTx) Enqueue(ctx context.Context, job db.Job) error {
	return u.fault(u.enqueue(ctx, []river.InsertManyParams{{Args: job, InsertOpts: once()}}), "enqueue the job")
}

// enqueueFor enqueues a job if the owner is not being erased and the reason for it holds. An
// erasure begins before or after the transaction, and not during it.
func (s *Store) enqueueFor(
	ctx context.Context, owner memory.Owner, job db.Job, holds func(c conn) (bool, error),
) error {
	err := s.transact(ctx, func(tx tx) error {
		if err := s.Admit(ctx, tx.on, owner); err != nil {
			return err
		}
		if ok, err := holds(tx.conn); err != nil || !ok {
			return err
		}
		return tx.enqueue(ctx, []river.InsertManyParams{{Args: job, InsertOpts: once()}})
	})
	if errors.Is(err, db.ErrErasing) {
		return nil
	}
	return s.fault(err, "enqueue the job")
}
