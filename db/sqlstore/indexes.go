package sqlstore

import (
	"context"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

func (s *Store) Index(ctx context.Context, owner memory.Owner) (revision int64, data []byte, err error) {
	type row struct {
		revision int64
		data     []byte
	}
	found, _, err := first(ctx, s.conn, func(r *row) []any { return []any{&r.revision, &r.data} },
		`SELECT revision, data FROM indexes WHERE app_id = $1 AND user_id = $2`, owner.AppID, owner.UserID)
	return found.revision, found.data, s.fault(err, "read the user's index")
}

func (s *Store) SaveIndex(ctx context.Context, owner memory.Owner, revision int64, data []byte) error {
	err := s.transact(ctx, func(tx tx) error {
		if err := s.Admit(ctx, tx.on, owner); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `
			INSERT INTO indexes (app_id, user_id, revision, data) SELECT $1, $2, $3, $4
			WHERE $3 >= (SELECT coalesce(max(complete_after), 1) FROM revisions WHERE owner_hash = $5)
			ON CONFLICT (app_id, user_id) DO UPDATE SET revision = excluded.revision, data = excluded.data
			WHERE excluded.revision >= indexes.revision`,
			owner.AppID, owner.UserID, revision, data, rowcodec.OwnerHash(owner))
		return err
	})
	return s.fault(err, "store the user's index")
}
