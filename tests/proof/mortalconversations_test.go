package proof

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *mortalRecords) Conversation(ctx context.Context, appID, userID, id string) (memory.Conversation, error) {
	return get(s.fuse, "Conversation", func() (memory.Conversation, error) { return s.real.Conversation(ctx, appID, userID, id) })
}

func (s *mortalRecords) ListConversations(ctx context.Context, f db.ConversationFilter) ([]memory.Conversation, error) {
	return get(s.fuse, "ListConversations", func() ([]memory.Conversation, error) { return s.real.ListConversations(ctx, f) })
}

func (s *mortalRecords) ConversationTurns(ctx context.Context, owner memory.Owner, id string, after int64, limit int) ([]memory.Turn, error) {
	return get(s.fuse, "ConversationTurns", func() ([]memory.Turn, error) { return s.real.ConversationTurns(ctx, owner, id, after, limit) })
}

// Idle finds no conversation idle while the process is at rest.
func (s *mortalRecords) Idle(ctx context.Context, before time.Time, limit int) ([]memory.Conversation, error) {
	if s.resting() {
		return nil, nil
	}
	return get(s.fuse, "Idle", func() ([]memory.Conversation, error) { return s.real.Idle(ctx, before, limit) })
}

func (s *mortalRecords) SetTitle(ctx context.Context, owner memory.Owner, id, title string) (memory.Conversation, error) {
	return get(s.fuse, "SetTitle", func() (memory.Conversation, error) { return s.real.SetTitle(ctx, owner, id, title) })
}

func (s *mortalRecords) EndConversation(ctx context.Context, c memory.Conversation, at time.Time, reason string) (memory.Conversation, bool, error) {
	return find(s.fuse, "EndConversation", func() (memory.Conversation, bool, error) {
		return s.real.EndConversation(ctx, c, at, reason)
	})
}

func (s *mortalRecords) Summarise(ctx context.Context, c, next memory.Conversation) error {
	return act(s.fuse, "Summarise", func() error { return s.real.Summarise(ctx, c, next) })
}

func (s *mortalRecords) DeleteConversation(ctx context.Context, owner memory.Owner, id string) (db.DeletedConversation, error) {
	return get(s.fuse, "DeleteConversation", func() (db.DeletedConversation, error) { return s.real.DeleteConversation(ctx, owner, id) })
}
