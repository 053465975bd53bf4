package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// Glance reads the owner's revision, then the newest writes: a change between
// the two is in the latter.
func (s *Store) Glance(ctx context.Context, owner memory.Owner, since time.Time, limit int) (revision int64, own []memory.Memory, err error) {
	err = s.reader.QueryRowContext(ctx, `SELECT revision FROM revisions WHERE owner_hash = ?`, rowcodec.OwnerHash(owner)).Scan(&revision)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, nil, fault(err, "read the user's revision")
	}
	own, err = unconfirmed(ctx, s.reader, owner, since, limit)
	return revision, own, err
}

// revise gives the owner's memories a new revision.
const revise = `INSERT INTO revisions (owner_hash, revision) VALUES (?, ?)
	ON CONFLICT (owner_hash) DO UPDATE SET revision = excluded.revision`
