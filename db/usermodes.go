package db

import (
	"context"

	"hippocampus/internal/memory"
)

// ErrMode is the KindConflict of a turn that is on, while the mode of its user or conversation is another one.
var ErrMode = memory.Errorf(memory.KindConflict, "the setting memory has changed: try again")

// UserModes keeps how much of memory is on for users and for their conversations. It is on where no mode was set. A
// conversation needs no turn to have a mode.
type UserModes interface {
	// ModeOf returns the stricter of the modes of a user and of one of the user's conversations, or the mode of the user
	// if conversationID is empty, each with its level unless it is on.
	ModeOf(ctx context.Context, owner memory.Owner, conversationID string) (memory.ModeSetting, error)
	// ExportUserModes pages through the modes other than memory.ModeOn, in (UserID, ConversationID) order, strictly after
	// one; nil: from the first.
	ExportUserModes(ctx context.Context, of Extent, after *memory.UserMode) ([]memory.UserMode, error)
}

// UserModeTx changes modes in a user's transaction.
type UserModeTx interface {
	// RecordedMode returns the mode of the user, or that of a conversation unless conversationID is empty.
	RecordedMode(ctx context.Context, conversationID string) (memory.ModeSetting, error)
	// SetMode sets the mode that RecordedMode returns.
	SetMode(ctx context.Context, conversationID string, mode memory.Mode) error
}
