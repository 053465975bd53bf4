package db

import (
	"context"

	"hippocampus/internal/memory"
)

// ErrMode is the KindConflict of a turn that is on, while the mode of its user is another one.
var ErrMode = memory.Errorf(memory.KindConflict, "the setting memory of the user has changed: try again")

// UserModes keeps how much of memory is on for users. It is on where no mode was set.
type UserModes interface {
	// ModeOf returns the mode of a user, with memory.LevelUser unless it is on.
	ModeOf(ctx context.Context, owner memory.Owner) (memory.ModeSetting, error)
	// ExportUserModes pages through the modes other than memory.ModeOn, in (UserID) order, strictly after one; nil: from
	// the first.
	ExportUserModes(ctx context.Context, of Extent, after *memory.UserMode) ([]memory.UserMode, error)
}

// UserModeTx changes the mode in a user's transaction.
type UserModeTx interface {
	// RecordedMode is UserModes.ModeOf within the transaction.
	RecordedMode(ctx context.Context) (memory.ModeSetting, error)
	// SetMode sets the mode of the user.
	SetMode(ctx context.Context, mode memory.Mode) error
}
