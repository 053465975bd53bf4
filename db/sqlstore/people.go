package sqlstore

import (
	"context"
	"encoding/json"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const selectParticipants = `SELECT app_id, user_id, conversation_id, name FROM participants WHERE `

func participantFields(p *memory.Participant) []any {
	return []any{&p.AppID, &p.UserID, &p.ConversationID, &p.Name}
}

// NoteParticipant notes that the user of a copy of a turn takes part in its conversation.
func (s *Store) NoteParticipant(ctx context.Context, tx Querier, t memory.Turn) error {
	return noteParticipant(ctx, conn{tx, s.dialect, s.fault}, t)
}

func noteParticipant(ctx context.Context, c conn, t memory.Turn) (err error) {
	if t.Shared.Is() {
		_, err = c.exec(ctx, `INSERT INTO participants (app_id, user_id, conversation_id, name) VALUES ($1, $2, $3, $4)
			ON CONFLICT DO NOTHING`, t.AppID, t.UserID, t.ConversationID, t.Shared.Name)
	}
	return err
}

func (s *Store) Participants(
	ctx context.Context, appID, conversationID string, after memory.Participant, limit int,
) ([]memory.Participant, error) {
	found, err := collect(ctx, s.conn, participantFields, selectParticipants+`app_id = $1 AND conversation_id = $2
		AND (user_id, name) > ($3, $4) ORDER BY user_id, name LIMIT $5`,
		appID, conversationID, after.UserID, after.Name, limit)
	return found, s.fault(err, "list who takes part in the conversation")
}

func (s *Store) Participations(ctx context.Context, owner memory.Owner) ([]memory.Participant, error) {
	found, err := collect(ctx, s.conn, participantFields, selectParticipants+`app_id = $1 AND user_id = $2
		ORDER BY conversation_id, name`, owner.AppID, owner.UserID)
	return found, s.fault(err, "list the conversations in which the user takes part")
}

func (s *Store) SharedTurns(ctx context.Context, appID, turnID string) ([]memory.Turn, error) {
	if !memory.IsID(turnID) {
		return nil, nil
	}
	turns, err := collect(ctx, s.conn, turnFields, selectTurns+` WHERE app_id = $1 AND shared_turn = $2
		ORDER BY {|+}user_id, {|+}id`, appID, turnID)
	return turns, s.fault(err, "find the copies of the turn")
}

func (s *Store) SharedAmong(ctx context.Context, owner memory.Owner, turnIDs []string) ([]string, error) {
	found, err := collect(ctx, s.conn, only[string], `SELECT id FROM turns WHERE id = ANY($3::uuid[])
		AND {|+}app_id = $1 AND {|+}user_id = $2 AND shared_turn IS NOT NULL`, owner.AppID, owner.UserID, turnIDs)
	return found, s.fault(err, "find the turns of several people")
}

func (u *UserTx) RedactTurn(
	ctx context.Context, turnID string, messages []memory.Message, candidates []string,
) error {
	column, err := rowcodec.MessagesJSON(messages)
	if err != nil {
		return memory.Errorf(memory.KindInvalid, "write the messages as JSON: %w", err)
	}
	_, err = u.exec(ctx, `UPDATE turns SET messages = $4
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3 AND shared_turn IS NOT NULL`,
		turnID, u.Owner.AppID, u.Owner.UserID, json.RawMessage(column))
	if err == nil && len(candidates) > 0 {
		_, err = u.exec(ctx, `DELETE FROM candidates WHERE id = ANY($4::uuid[]) AND {|+}turn_id = $1
			AND {|+}app_id = $2 AND {|+}user_id = $3`, turnID, u.Owner.AppID, u.Owner.UserID, candidates)
	}
	return u.fault(err, "remove words from the turn")
}
