package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const selectUserModes = `SELECT app_id, user_id, mode FROM user_modes WHERE `

func userModeFields(m *memory.UserMode) []any { return []any{&m.AppID, &m.UserID, &m.Mode} }

func modeOf(ctx context.Context, c conn, owner memory.Owner) (memory.ModeSetting, error) {
	m, ok, err := first(ctx, c, userModeFields, selectUserModes+`app_id = $1 AND user_id = $2`,
		owner.AppID, owner.UserID)
	if err != nil || !ok {
		return memory.ModeSetting{}, c.fault(err, "read how much of memory is on for the user")
	}
	return memory.ModeOfUser(m.Mode), nil
}

func (s *Store) ModeOf(ctx context.Context, owner memory.Owner) (memory.ModeSetting, error) {
	return modeOf(ctx, s.conn, owner)
}

func (s *Store) ExportUserModes(
	ctx context.Context, of db.Extent, after *memory.UserMode,
) ([]memory.UserMode, error) {
	where := within(of)
	if after != nil {
		where.Add(`user_id > ?`, after.UserID)
	}
	found, err := page(ctx, s.conn, userModeFields, selectUserModes, where, `user_id`, of.Limit)
	return found, s.fault(err, "export how much of memory is on for users")
}

func (u *UserTx) RecordedMode(ctx context.Context) (memory.ModeSetting, error) {
	return modeOf(ctx, u.conn, u.Owner)
}

func (u *UserTx) SetMode(ctx context.Context, mode memory.Mode) (err error) {
	if mode == memory.ModeOn {
		_, err = u.exec(ctx, `DELETE FROM user_modes WHERE app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID)
	} else {
		_, err = u.exec(ctx, `INSERT INTO user_modes (app_id, user_id, mode) VALUES ($1, $2, $3)
			ON CONFLICT (app_id, user_id) DO UPDATE SET mode = excluded.mode`, u.Owner.AppID, u.Owner.UserID, mode)
	}
	return u.fault(err, "set how much of memory is on for the user")
}
