package db

import (
	"context"

	"hippocampus/internal/memory"
)

// UserZones keeps the time zones of users: one that was chosen, and the offset of the last turn that AcceptTurn has
// stored with an Offset.
type UserZones interface {
	// UserZone returns what is known of a user's zone; if nothing is known, only its Owner is set.
	UserZone(ctx context.Context, owner memory.Owner) (memory.UserZone, error)
	// ExportUserZones pages through the zones that are not empty, in (UserID) order, strictly after one; nil: from
	// the first.
	ExportUserZones(ctx context.Context, of Extent, after *memory.UserZone) ([]memory.UserZone, error)
}

// UserZoneTx changes the zone in a user's transaction.
type UserZoneTx interface {
	// RecordedUserZone is UserZones.UserZone within the transaction.
	RecordedUserZone(ctx context.Context) (memory.UserZone, error)
	// SetUserZone replaces what is known of the zone.
	SetUserZone(ctx context.Context, z memory.UserZone) error
}
