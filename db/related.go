package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Related finds memories of the same conversation.
type Related interface {
	// ConversationNeighbours lists active memories of an owner's conversation: the
	// last n before a place in (CreatedAt, ID) order and the first n after it, oldest
	// first, without embeddings. The memory at the place is left out, and so are,
	// unless seenBy is empty, memories of other agents.
	ConversationNeighbours(ctx context.Context, owner memory.Owner, seenBy, conversationID string, place Position, n int) (
		[]memory.Memory, error)
}

// RelatedTx undoes MaintenanceTx.AddRelations.
type RelatedTx interface {
	// RemoveRelation deletes a relation between memories of the owner.
	// KindNotFound: it does not exist.
	RemoveRelation(ctx context.Context, r memory.Relation) error
}
