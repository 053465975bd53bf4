package proof

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// The crashing types are the stores as they look to a process that can crash at any call.
// Their other methods are in crashing_gen_test.go.

var (
	_ vectorstore.Rebuilder = (*crashingVectors)(nil)
	_ vectorstore.Ensurer   = (*crashingVectors)(nil)
	_ vectorstore.Remote    = (*crashingVectors)(nil)
)

// Close also works after the crash, since the system closes a dead process's connections.
func (store *crashingStore) Close() error { return store.real.Close() }

// InUser rolls back if the process crashes before the commit, which is InUser's last step.
func (store *crashingStore) InUser(
	ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error,
) error {
	return act(store.fuse, "InUser", func() error {
		return store.real.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
			if err := f(ctx, &crashingTx{store.fuse, tx}); err != nil {
				return err
			}
			return store.alive()
		})
	})
}

// InScope rolls back as InUser does.
func (store *crashingStore) InScope(
	ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx db.InstructionTx) error,
) error {
	return act(store.fuse, "InScope", func() error {
		return store.real.InScope(ctx, scope, func(ctx context.Context, tx db.InstructionTx) error {
			if err := f(ctx, &crashingScope{store.fuse, tx}); err != nil {
				return err
			}
			return store.alive()
		})
	})
}

// Close also works after the crash.
func (store *crashingVectors) Close() error { return store.real.Close() }

// Rebuild changes nothing if the process crashes before the change-over, which
// is Rebuild's last step.
func (store *crashingVectors) Rebuild(
	ctx context.Context, fill func(ctx context.Context, into vectorstore.Writer) error,
) error {
	return act(store.fuse, "Rebuild", func() error {
		return store.real.(vectorstore.Rebuilder).Rebuild(ctx, func(ctx context.Context, into vectorstore.Writer) error {
			if err := fill(ctx, &crashingWriter{store.fuse, into}); err != nil {
				return err
			}
			return store.alive()
		})
	})
}

// Ensure implements vectorstore.Ensurer.
func (store *crashingVectors) Ensure(ctx context.Context) error {
	return act(store.fuse, "Ensure", func() error { return store.real.(vectorstore.Ensurer).Ensure(ctx) })
}

// Healthy and Losses call no store.
func (store *crashingVectors) Healthy() bool { return store.real.(vectorstore.Remote).Healthy() }
func (store *crashingVectors) Losses() int   { return store.real.(vectorstore.Ensurer).Losses() }
