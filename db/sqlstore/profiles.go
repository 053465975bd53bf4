package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func profileSchemaFields(p *db.ProfileSchema) []any {
	return []any{&p.AppID, &p.Version, &p.Schema, &p.StoredAt, &p.StoredBy}
}

func (s *Store) ProfileSchema(ctx context.Context, appID string) (db.ProfileSchema, error) {
	p, found, err := first(ctx, s.conn, profileSchemaFields,
		`SELECT app_id, version, schema, stored_at, stored_by FROM profile_schemas WHERE app_id = $1`, appID)
	return p, s.require(found, err, "read the schema of the app's profiles", errNoSchema)
}

var errNoSchema = memory.Errorf(memory.KindNotFound,
	"the app has no schema of profiles: store one with PUT /v1/profile-schema")

func (s *Store) SetProfileSchema(ctx context.Context, p db.ProfileSchema) (db.ProfileSchema, error) {
	err := s.transact(ctx, func(tx tx) (err error) {
		p.Version, _, err = first(ctx, tx.conn, only[int], `INSERT INTO profile_schemas
			(app_id, version, schema, stored_at, stored_by) VALUES ($1, 1, $2, $3, $4)
			ON CONFLICT (app_id) DO UPDATE SET version = profile_schemas.version + 1, schema = excluded.schema,
				stored_at = excluded.stored_at, stored_by = excluded.stored_by
			RETURNING version`, p.AppID, p.Schema, p.StoredAt, p.StoredBy)
		return err
	})
	return p, s.fault(err, "store the schema of the app's profiles")
}

func (s *Store) DeleteProfileSchema(ctx context.Context, appID string) error {
	deleted := 0
	err := s.transact(ctx, func(tx tx) (err error) {
		if deleted, err = tx.exec(ctx, `DELETE FROM profile_schemas WHERE app_id = $1`, appID); err == nil {
			_, err = tx.exec(ctx, `DELETE FROM filled_profiles WHERE app_id = $1`, appID)
		}
		return err
	})
	return s.require(deleted > 0, err, "delete the schema of the app's profiles", errNoSchema)
}

func filledProfileFields(p *db.FilledProfile) []any {
	return []any{&p.Owner.AppID, &p.Owner.UserID, &p.AgentID, &p.Basis, &p.Fields, &p.FilledAt}
}

func (s *Store) FilledProfile(
	ctx context.Context, owner memory.Owner, agentID string,
) (db.FilledProfile, error) {
	p, _, err := first(ctx, s.conn, filledProfileFields, `SELECT app_id, user_id, agent_id, basis, fields, filled_at
		FROM filled_profiles WHERE app_id = $1 AND user_id = $2 AND agent_id = $3`, owner.AppID, owner.UserID, agentID)
	return p, s.fault(err, "read the filled profile")
}

func (u *UserTx) KeepProfile(ctx context.Context, p db.FilledProfile) error {
	_, err := u.exec(ctx, `INSERT INTO filled_profiles (app_id, user_id, agent_id, basis, fields, filled_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (app_id, user_id, agent_id) DO UPDATE
		SET basis = excluded.basis, fields = excluded.fields, filled_at = excluded.filled_at`,
		u.Owner.AppID, u.Owner.UserID, p.AgentID, p.Basis, p.Fields, p.FilledAt)
	return u.fault(err, "store the filled profile")
}
