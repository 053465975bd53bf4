package proof

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func (s *mortalRecords) ConversationNeighbours(ctx context.Context, owner memory.Owner, seenBy, conversationID string, place db.Position, n int) ([]memory.Memory, error) {
	return get(s.fuse, "ConversationNeighbours", func() ([]memory.Memory, error) {
		return s.real.ConversationNeighbours(ctx, owner, seenBy, conversationID, place, n)
	})
}

func (s *mortalRecords) CountActive(ctx context.Context, owner memory.Owner) (int, error) {
	return get(s.fuse, "CountActive", func() (int, error) { return s.real.CountActive(ctx, owner) })
}

func (s *mortalRecords) OwnerAges(ctx context.Context, owner memory.Owner, f func(id string, a db.Age) error) error {
	return act(s.fuse, "OwnerAges", func() error { return s.real.OwnerAges(ctx, owner, f) })
}

func (s *mortalTx) RemoveRelation(ctx context.Context, r memory.Relation) error {
	return act(s.fuse, "tx.RemoveRelation", func() error { return s.real.RemoveRelation(ctx, r) })
}
