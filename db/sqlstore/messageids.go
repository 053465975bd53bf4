package sqlstore

import (
	"context"

	"hippocampus/internal/memory"
)

const noteMessageID = `INSERT INTO message_ids (app_id, user_id, conversation_id, id, turn_id)
	VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`

// NoteMessageIDs notes the ids that the client gave to messages of a turn of a conversation.
func (s *Store) NoteMessageIDs(ctx context.Context, tx Querier, t memory.Turn) error {
	return noteMessageIDs(ctx, conn{tx, s.dialect, s.fault}, t)
}

func noteMessageIDs(ctx context.Context, c conn, t memory.Turn) error {
	if t.ConversationID == "" {
		return nil
	}
	for _, id := range t.MessageIDs() {
		if _, err := c.exec(ctx, noteMessageID, t.AppID, t.UserID, t.ConversationID, id, t.ID); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) TurnsOfMessages(
	ctx context.Context, owner memory.Owner, conversationID string, ids []string,
) ([]memory.Turn, error) {
	turns, err := collect(ctx, s.conn, turnFields, selectTurns+` WHERE id IN (
			SELECT turn_id FROM message_ids
			WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 AND id = ANY($4::text[]))
		AND {|+}app_id = $1 AND {|+}user_id = $2 AND {|+}status <> 'withdrawn' ORDER BY {|+}first_event`,
		owner.AppID, owner.UserID, conversationID, ids)
	return turns, s.fault(err, "find the turns of messages")
}
