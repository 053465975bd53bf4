package postgres

import (
	"context"
	"time"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// revisionAndFresh reads the revision, and whether the vector store may lack any
// of the owner's memories. Its plan is the same for every value, so that Postgres
// keeps it. Planning unconfirmed each time costs many times what this query costs.
const revisionAndFresh = `SELECT coalesce((SELECT revision FROM revisions WHERE owner_hash = $1), 0),
	EXISTS (SELECT FROM agent_memories
		WHERE app_id = $2 AND user_id = $3 AND status = 'active' AND vector_state = 'pending')
	OR coalesce((SELECT max(vector_synced_at) FROM agent_memories
		WHERE app_id = $2 AND user_id = $3 AND status = 'active' AND vector_state = 'synced') >= $4, false)`

// RevisionAndUnconfirmed reads the owner's revision and then the newest writes, if
// there are any. The latter include a change between the two reads.
func (s *Store) RevisionAndUnconfirmed(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) (revision int64, own []memory.Memory, err error) {
	var fresh bool
	err = s.pool.QueryRow(ctx, revisionAndFresh, rowcodec.OwnerHash(owner), owner.AppID, owner.UserID,
		since).Scan(&revision, &fresh)
	if err != nil {
		return 0, nil, fault(err, "read the user's revision")
	}
	if fresh {
		own, err = s.Unconfirmed(ctx, owner, since, limit)
	}
	return revision, own, err
}

// revise gives the owner's memories a new revision.
const revise = `INSERT INTO revisions (owner_hash, revision) VALUES ($1, $2)
	ON CONFLICT (owner_hash) DO UPDATE SET revision = excluded.revision`
