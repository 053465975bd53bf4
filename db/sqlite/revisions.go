package sqlite

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// RevisionAndUnconfirmed reads the owner's revision and then the newest writes, if
// there are any. The latter include a change between the two reads.
func (s *Store) RevisionAndUnconfirmed(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) (revision int64, own []memory.Memory, err error) {
	revision, fresh, err := s.revisionAndFresh(ctx, owner, since)
	if fresh {
		own, err = unconfirmed(ctx, s.reader, owner, since, limit)
	}
	return revision, own, err
}

// RevisionDocumentsAndUnconfirmed reads the owner's revision, then the documents,
// then the newest writes.
func (s *Store) RevisionDocumentsAndUnconfirmed(
	ctx context.Context, owner memory.Owner, since time.Time, limit int,
) (found db.OwnerDocuments, err error) {
	if found.Revision, _, err = s.revisionAndFresh(ctx, owner, since); err != nil {
		return found, err
	}
	if found.Documents, err = s.Documents(ctx, owner); err != nil {
		return found, err
	}
	_, found.Unconfirmed, err = s.RevisionAndUnconfirmed(ctx, owner, since, limit)
	return found, err
}

// revisionAndFresh reads the revision, and whether the vector store may lack any
// of the owner's memories.
func (s *Store) revisionAndFresh(
	ctx context.Context, owner memory.Owner, since time.Time,
) (revision int64, fresh bool, err error) {
	err = s.reader.QueryRowContext(ctx, `SELECT coalesce((SELECT revision FROM revisions WHERE owner_hash = ?1), 0),
		EXISTS (SELECT 1 FROM agent_memories INDEXED BY agent_memories_unconfirmed
			WHERE app_id = ?2 AND user_id = ?3 AND status = 'active' AND vector_state = 'pending')
		OR EXISTS (SELECT 1 FROM agent_memories INDEXED BY agent_memories_confirmed
			WHERE app_id = ?2 AND user_id = ?3 AND status = 'active' AND vector_state = 'synced' AND vector_synced_at >= ?4)`,
		rowcodec.OwnerHash(owner), owner.AppID, owner.UserID, moment(since)).Scan(&revision, &fresh)
	return revision, fresh, fault(err, "read the user's revision")
}

// revise gives the owner's memories a new revision.
const revise = `INSERT INTO revisions (owner_hash, revision) VALUES (?, ?)
	ON CONFLICT (owner_hash) DO UPDATE SET revision = excluded.revision`
