package postgres

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// ConversationNeighbours lists active memories of a conversation on both sides of a place.
func (s *Store) ConversationNeighbours(ctx context.Context, owner memory.Owner, seenBy, conversationID string, place db.Position, n int) ([]memory.Memory, error) {
	if !memory.IsID(place.ID) {
		return nil, notFound("memory", place.ID)
	}
	const side = `(SELECT ` + withoutVectors + ` FROM agent_memories
		WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 AND status = 'active'
			AND ($7 = '' OR agent_id IN ('', $7)) AND (created_at, id) `
	found, err := memories(ctx, s.pool, side+`< ($4, $5) ORDER BY created_at DESC, id DESC LIMIT $6)
		UNION ALL `+side+`> ($4, $5) ORDER BY created_at, id LIMIT $6) ORDER BY created_at, id`,
		owner.AppID, owner.UserID, conversationID, place.At, place.ID, n, seenBy)
	return found, fault(err, "read the conversation around the memory")
}

// RemoveRelation deletes a relation between memories of the owner.
func (u *userTx) RemoveRelation(ctx context.Context, r memory.Relation) error {
	if !memory.IsID(r.From) || !memory.IsID(r.To) {
		return noRelation(r)
	}
	tag, err := u.tx.Exec(ctx, `
		DELETE FROM memory_relations WHERE from_id = $3 AND kind = $4 AND to_id = $5
			AND EXISTS (SELECT FROM agent_memories WHERE id = $3 AND app_id = $1 AND user_id = $2)`,
		u.Owner.AppID, u.Owner.UserID, r.From, r.Kind, r.To)
	if err == nil && tag.RowsAffected() == 0 {
		return noRelation(r)
	}
	return fault(err, "delete the relation")
}

func noRelation(r memory.Relation) error {
	return memory.Errorf(memory.KindNotFound, "there is no relation %s %s %s", r.From, r.Kind, r.To)
}
