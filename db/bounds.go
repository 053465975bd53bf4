package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Bounds reads what the bound of an owner's memories is kept by.
type Bounds interface {
	// CountActive counts the owner's active memories.
	CountActive(ctx context.Context, owner memory.Owner) (int, error)
	// OwnerAges calls f with the id and age of each of the owner's active
	// memories, in no order, until f returns an error.
	OwnerAges(ctx context.Context, owner memory.Owner, f func(id string, a Age) error) error
}
