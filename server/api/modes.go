package api

import (
	"context"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// ModeKeeper keeps how much of memory is on for users and their conversations; package modes implements it.
type ModeKeeper interface {
	// Of returns the stricter of the modes of a user and of a conversation; of the user alone without a conversationID.
	Of(ctx context.Context, owner memory.Owner, conversationID string) (memory.ModeSetting, error)
	Set(ctx context.Context, owner memory.Owner, conversationID string, mode memory.Mode) error
}

// modeFor is the strictest of the modes of the key of a request, of a user, and of a conversation unless that is empty.
func modeFor(
	ctx context.Context, r *frame.Request, modes ModeKeeper, owner memory.Owner, conversationID string,
) (memory.ModeSetting, error) {
	set, err := modes.Of(ctx, owner, conversationID)
	return memory.Strictest(modeOfKey(r), set), err
}

func modeOfKey(r *frame.Request) memory.ModeSetting {
	return memory.ModeAt(memory.LevelKey, r.Key.Memory)
}

// admitWrite refuses a write of something new about a user, and of a conversation unless that is empty, if the mode
// keeps nothing.
func admitWrite(
	ctx context.Context, r *frame.Request, modes ModeKeeper, owner memory.Owner, conversationID string,
) error {
	set, err := modeFor(ctx, r, modes, owner, conversationID)
	if err != nil || set.Keeps() {
		return err
	}
	return set.Refusal(owner, conversationID)
}

// admitKey refuses a request that keeps something new about any user if the mode of its key keeps nothing.
func admitKey(r *frame.Request) error {
	if set := modeOfKey(r); !set.Keeps() {
		return set.Refusal(memory.Owner{}, "")
	}
	return nil
}
