package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const (
	selectUserModes = `SELECT app_id, user_id, conversation_id, mode FROM user_modes WHERE `
	// The user's mode comes first, so that it names the level if both modes are equally strict.
	modesOf = selectUserModes + `app_id = $1 AND user_id = $2 AND conversation_id IN ('', $3) ORDER BY conversation_id`
	// ofConversation is the mode of the conversation of a row of conversations.
	ofConversation = `, coalesce((SELECT mode FROM user_modes AS u WHERE u.app_id = conversations.app_id
		AND u.user_id = conversations.user_id AND u.conversation_id = conversations.id), '')`
)

func userModeFields(m *memory.UserMode) []any {
	return []any{&m.AppID, &m.UserID, &m.ConversationID, &m.Mode}
}

func modeOf(ctx context.Context, c conn, owner memory.Owner, conversationID string) (
	strictest memory.ModeSetting, err error,
) {
	found, err := collect(ctx, c, userModeFields, modesOf, owner.AppID, owner.UserID, conversationID)
	for _, m := range found {
		strictest = memory.Strictest(strictest, m.Setting())
	}
	return strictest, c.fault(err, "read how much of memory is on for the user")
}

func (s *Store) ModeOf(
	ctx context.Context, owner memory.Owner, conversationID string,
) (memory.ModeSetting, error) {
	return modeOf(ctx, s.conn, owner, conversationID)
}

func (s *Store) ExportUserModes(
	ctx context.Context, of db.Extent, after *memory.UserMode,
) ([]memory.UserMode, error) {
	where := within(of)
	if after != nil {
		where.Add(`(user_id, conversation_id) > (?, ?)`, after.UserID, after.ConversationID)
	}
	found, err := page(ctx, s.conn, userModeFields, selectUserModes, where, `user_id, conversation_id`, of.Limit)
	return found, s.fault(err, "export how much of memory is on for users")
}

func (u *UserTx) RecordedMode(ctx context.Context, conversationID string) (memory.ModeSetting, error) {
	m, _, err := first(ctx, u.conn, userModeFields,
		selectUserModes+`app_id = $1 AND user_id = $2 AND conversation_id = $3`,
		u.Owner.AppID, u.Owner.UserID, conversationID)
	return m.Setting(), u.fault(err, "read how much of memory is on for the user")
}

func (u *UserTx) SetMode(ctx context.Context, conversationID string, mode memory.Mode) (err error) {
	if mode == memory.ModeOn {
		_, err = u.exec(ctx, `DELETE FROM user_modes WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3`,
			u.Owner.AppID, u.Owner.UserID, conversationID)
	} else {
		_, err = u.exec(ctx, `INSERT INTO user_modes (app_id, user_id, conversation_id, mode) VALUES ($1, $2, $3, $4)
			ON CONFLICT (app_id, user_id, conversation_id) DO UPDATE SET mode = excluded.mode`,
			u.Owner.AppID, u.Owner.UserID, conversationID, mode)
	}
	return u.fault(err, "set how much of memory is on for the user")
}
