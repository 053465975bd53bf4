package api

import (
	"context"

	"hippocampus/internal/memory"
)

// ModeKeeper keeps how much of memory is on for users; package modes implements it.
type ModeKeeper interface {
	Of(ctx context.Context, owner memory.Owner) (memory.ModeSetting, error)
	Set(ctx context.Context, owner memory.Owner, mode memory.Mode) error
}

// admitWrite refuses a write of something new about a user whose mode keeps nothing.
func admitWrite(ctx context.Context, modes ModeKeeper, owner memory.Owner) error {
	set, err := modes.Of(ctx, owner)
	if err != nil || set.Keeps() {
		return err
	}
	return set.Refusal(owner)
}
