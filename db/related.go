package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Related finds what stands beside a memory.
type Related interface {
	// ConversationNeighbours lists active memories of an owner's conversation: the n last ones
	// before a place in (CreatedAt, ID) order and the n first ones after it,
	// oldest first, without embeddings. What is at the place itself is left out,
	// and with seenBy what that agent may not see: others' memories.
	ConversationNeighbours(ctx context.Context, owner memory.Owner, seenBy, conversationID string, place Position, n int) ([]memory.Memory, error)
}

// RelatedTx undoes MaintenanceTx.AddRelations.
type RelatedTx interface {
	// RemoveRelation deletes a relation between memories of the owner.
	// KindNotFound: there is none.
	RemoveRelation(ctx context.Context, r memory.Relation) error
}
