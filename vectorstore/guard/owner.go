package guard

import (
	"context"

	"hippocampus/internal/memory"
)

// DeleteOwner guards vectorstore.Store.DeleteOwner.
func (s *Store) DeleteOwner(ctx context.Context, owner memory.Owner) (deleted int, err error) {
	err = s.call(ctx, func() error {
		deleted, err = s.Store.DeleteOwner(ctx, owner)
		return err
	})
	return deleted, err
}

// CountOwner guards vectorstore.Store.CountOwner.
func (s *Store) CountOwner(ctx context.Context, owner memory.Owner) (held int, err error) {
	err = s.call(ctx, func() error {
		held, err = s.Store.CountOwner(ctx, owner)
		return err
	})
	return held, err
}
