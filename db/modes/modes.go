// Package modes finds and sets how much of memory is on for users. It caches nothing, so that every server sees a
// change at once.
package modes

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Records is the part of the database that modes are kept in.
type Records interface {
	ModeOf(ctx context.Context, owner memory.Owner) (memory.ModeSetting, error)
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
}

// Service finds and sets modes. It is safe for concurrent use.
type Service struct{ records Records }

// New returns a service.
func New(records Records) *Service { return &Service{records} }

// Of returns the mode of a user.
func (s *Service) Of(ctx context.Context, owner memory.Owner) (memory.ModeSetting, error) {
	return s.records.ModeOf(ctx, owner)
}

// Set sets the mode of a user. KindConflict: the user is being erased.
func (s *Service) Set(ctx context.Context, owner memory.Owner, mode memory.Mode) error {
	return s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		set, err := tx.RecordedMode(ctx)
		if err != nil || set.Mode == mode {
			return err
		}
		return tx.SetMode(ctx, mode)
	})
}
