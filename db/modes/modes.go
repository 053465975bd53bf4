// Package modes finds and sets how much of memory is on for users and their conversations. It caches nothing, so that
// every server sees a change at once.
package modes

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Records is the part of the database that modes are kept in.
type Records interface {
	ModeOf(ctx context.Context, owner memory.Owner, conversationID string) (memory.ModeSetting, error)
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
}

// Service finds and sets modes. It is safe for concurrent use.
type Service struct{ records Records }

// New returns a service.
func New(records Records) *Service { return &Service{records} }

// Of returns the stricter of the modes of a user and of a conversation, or that of the user if conversationID is empty.
func (s *Service) Of(ctx context.Context, owner memory.Owner, conversationID string) (memory.ModeSetting, error) {
	return s.records.ModeOf(ctx, owner, conversationID)
}

// Set sets the mode of a user, or of a conversation unless conversationID is empty. KindConflict: the user is being
// erased.
func (s *Service) Set(ctx context.Context, owner memory.Owner, conversationID string, mode memory.Mode) error {
	return s.records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		set, err := tx.RecordedMode(ctx, conversationID)
		if err != nil || set.Mode == mode {
			return err
		}
		return tx.SetMode(ctx, conversationID, mode)
	})
}
