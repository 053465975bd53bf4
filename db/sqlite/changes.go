package sqlite

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

func (s *Store) Changes(
	ctx context.Context, owner memory.Owner, after int64, since time.Time, limit int,
) (found db.Changes, err error) {
	var state ownerState
	if after > 0 {
		if found, err = s.changes(ctx, owner, after); err != nil {
			return found, err
		}
		// Read after the documents, since a purge deletes changed rows.
		if state, err = s.state(ctx, owner, since); err != nil {
			return found, err
		}
	}
	if after <= 0 || after < state.completeAfter || after > state.revision {
		if state, err = s.state(ctx, owner, since); err != nil {
			return found, err
		}
		found = db.Changes{All: true, Revision: state.revision}
		if found.Documents, err = s.Documents(ctx, owner); err != nil {
			return found, err
		}
		if state, err = s.state(ctx, owner, since); err != nil {
			return found, err
		}
	}
	found.Mode = memory.ModeAt(memory.LevelUser, state.mode)
	if state.fresh {
		found.Unconfirmed, err = s.Unconfirmed(ctx, owner, since, limit)
	}
	return found, err
}

// changedDocuments has + before the revision. SQLite compares a bare parameter with the condition of a partial index,
// and so prepares the statement again for each revision, which takes several times what running it takes.
const changedDocuments = `SELECT ` + documentColumns + `, status = 'active', change
	FROM agent_memories m INDEXED BY agent_memories_changes
	WHERE app_id = ?1 AND user_id = ?2 AND change > +?3 AND change > 0 ORDER BY conversation_id, created_at, id`

// changes reads the documents that have changed. The revision is the latest change that
// they show.
func (s *Store) changes(ctx context.Context, owner memory.Owner, after int64) (found db.Changes, err error) {
	type changed struct {
		db.Document
		active bool
		change int64
	}
	rows, err := collect(ctx, s.reader, func(c *changed) []any {
		return append(documentFields(&c.Document), &c.active, &c.change)
	}, changedDocuments, owner.AppID, owner.UserID, after)
	found.Revision = after
	for _, row := range rows {
		found.Revision = max(found.Revision, row.change)
		if row.active {
			found.Documents = append(found.Documents, row.Document)
		} else {
			found.Gone = append(found.Gone, row.ID)
		}
	}
	return found, fault(err, "read the user's changes")
}

// ownerState is how far an owner's changes are known, whether the vector store may lack any of the owner's memories,
// and the owner's mode.
type ownerState struct {
	revision, completeAfter int64
	fresh                   bool
	mode                    memory.Mode
}

func (s *Store) state(ctx context.Context, owner memory.Owner, since time.Time) (o ownerState, err error) {
	err = s.reader.QueryRowContext(ctx, `SELECT coalesce(r.revision, 1), coalesce(r.complete_after, 1),
		EXISTS (SELECT 1 FROM agent_memories INDEXED BY agent_memories_unconfirmed
			WHERE app_id = ?2 AND user_id = ?3 AND status = 'active' AND vector_state = 'pending')
		OR EXISTS (SELECT 1 FROM agent_memories INDEXED BY agent_memories_confirmed
			WHERE app_id = ?2 AND user_id = ?3 AND status = 'active' AND vector_state = 'synced' AND vector_synced_at >= ?4),
		coalesce((SELECT mode FROM user_modes
			WHERE app_id = ?2 AND user_id = ?3 AND conversation_id = ''), '')
		FROM (SELECT 1) LEFT JOIN revisions r ON r.owner_hash = ?1`,
		rowcodec.OwnerHash(owner), owner.AppID, owner.UserID, moment(since)).
		Scan(&o.revision, &o.completeAfter, &o.fresh, &o.mode)
	return o, fault(err, "read the user's revision")
}
