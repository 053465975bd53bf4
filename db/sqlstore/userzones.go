package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

const selectUserZones = `SELECT app_id, user_id, chosen, last_offset FROM user_zones WHERE `

func userZoneFields(z *memory.UserZone) []any {
	return []any{&z.AppID, &z.UserID, &z.Chosen, &z.Offset}
}

func userZone(ctx context.Context, c conn, owner memory.Owner) (memory.UserZone, error) {
	z, _, err := first(ctx, c, userZoneFields, selectUserZones+`app_id = $1 AND user_id = $2`, owner.AppID, owner.UserID)
	z.Owner = owner
	return z, c.fault(err, "read the user's time zone")
}

func (s *Store) UserZone(ctx context.Context, owner memory.Owner) (memory.UserZone, error) {
	return userZone(ctx, s.conn, owner)
}

func (s *Store) ExportUserZones(
	ctx context.Context, of db.Extent, after *memory.UserZone,
) ([]memory.UserZone, error) {
	where := within(of)
	where.Add(`(chosen <> '' OR last_offset <> '')`)
	if after != nil {
		where.Add(`user_id > ?`, after.UserID)
	}
	found, err := page(ctx, s.conn, userZoneFields, selectUserZones, where, `user_id`, of.Limit)
	return found, s.fault(err, "export the time zones")
}

func (u *UserTx) RecordedUserZone(ctx context.Context) (memory.UserZone, error) {
	return userZone(ctx, u.conn, u.Owner)
}

func (u *UserTx) SetUserZone(ctx context.Context, z memory.UserZone) error {
	_, err := u.exec(ctx, `INSERT INTO user_zones (app_id, user_id, chosen, last_offset) VALUES ($1, $2, $3, $4)
		ON CONFLICT (app_id, user_id) DO UPDATE SET chosen = excluded.chosen, last_offset = excluded.last_offset`,
		u.Owner.AppID, u.Owner.UserID, z.Chosen, z.Offset)
	return u.fault(err, "set the user's time zone")
}
