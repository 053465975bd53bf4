package exchange

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

var errErased = memory.Errorf(memory.KindConflict,
	"the user was erased during this import: import the line again if the user shall have it")

// admit refuses lines of a user whose erasure ended after the import began: the import must not bring back what the
// receipt states to be gone.
func (i *importing) admit(state db.UserState, err error) error {
	if err == nil && state.ErasedAt.After(i.since) {
		return errErased
	}
	return err
}

// inUser runs f in a transaction of a user, unless the user was erased.
func (i *importing) inUser(
	ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error,
) error {
	return i.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		if err := i.admit(tx.State(ctx)); err != nil {
			return err
		}
		return f(ctx, tx)
	})
}

// inScope runs f in a transaction of a scope, unless it is the scope of a user who was erased.
func (i *importing) inScope(
	ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx db.InstructionTx) error,
) error {
	return i.records.InScope(ctx, scope, func(ctx context.Context, tx db.InstructionTx) error {
		if err := i.admit(tx.State(ctx)); err != nil {
			return err
		}
		return f(ctx, tx)
	})
}
