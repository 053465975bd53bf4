package sqlstore

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// UserTx implements the parts of db.UserTx that both databases share. Package db
// documents the methods. Every statement names the owner.
type UserTx struct {
	tx
	Owner   memory.Owner
	Change  int64 // the number of this change of the owner's memories
	Changed bool  // memories or relations were written

	// The commit announces these: events, their memories as they were written, and the rest.
	events    []memory.Event
	written   map[string]memory.Memory
	announced []memory.Announcement

	active []activeDay // noted at the commit
}

// UserTx returns the shared parts of an owner's transaction. The adapter sets Change.
func (s *Store) UserTx(t Tx, owner memory.Owner) UserTx {
	return UserTx{tx: tx{conn{t, s.dialect, s.fault}, t.Enqueue}, Owner: owner}
}

// NextChange selects the number of an owner's next change. The owner's hash and a
// closing parenthesis must follow.
const NextChange = `(SELECT coalesce(max(revision), 1) + 1 FROM revisions WHERE owner_hash = `

// Revise records a change of the memories of the owner with the hash $1. Its number is $2.
const Revise = `INSERT INTO revisions (owner_hash, revision) VALUES ($1, $2)
	ON CONFLICT (owner_hash) DO UPDATE SET revision = excluded.revision`

// Admit returns db.ErrErasing if the owner is being erased. It waits for a mark that is
// being made, and a later mark waits for the transaction.
func (s *Store) Admit(ctx context.Context, tx Querier, owner memory.Owner) error {
	c := conn{tx, s.dialect, s.fault}
	if s.dialect == Postgres {
		if _, err := c.exec(ctx, `SELECT pg_advisory_xact_lock_shared($1)`, rowcodec.TurnsLock(owner)); err != nil {
			return err
		}
	}
	erasing, _, err := first(ctx, c, only[bool],
		`SELECT EXISTS (SELECT 1 FROM erasures WHERE owner_hash = $1 AND state = 'erasing')`, rowcodec.OwnerHash(owner))
	if err == nil && erasing {
		return db.ErrErasing
	}
	return err
}

// shared returns what the statements of the transaction run on.
func (u *UserTx) shared() conn { return u.conn }

// Writing checks memories that are about to be written, and notes them for their
// announcements. KindInvalid: see rowcodec.CheckMemory.
func (u *UserTx) Writing(memories ...memory.Memory) error {
	u.Changed = true
	if u.written == nil {
		u.written = make(map[string]memory.Memory, len(memories))
	}
	for _, m := range memories {
		if err := rowcodec.CheckMemory(u.Owner, m); err != nil {
			return err
		}
		u.written[m.ID] = m
	}
	return nil
}

// Projection is the desired vector state of a new row.
type Projection struct {
	State   memory.VectorState
	Due     time.Time
	Claimed time.Time // until when; zero: not claimed
	Claims  int
}

// Inserted returns the projections of new memories, which are created with their
// first claim unless claimed is zero or they are of words only.
func Inserted(claimed time.Time) func(memory.Memory) Projection {
	claims := 0
	if !claimed.IsZero() {
		claims = 1
	}
	return func(m memory.Memory) Projection {
		if m.Status == memory.Active && m.WordsOnly() {
			return Projection{State: memory.VectorAbsent, Due: m.UpdatedAt, Claims: 1}
		}
		return Projection{State: memory.VectorPending, Due: m.UpdatedAt, Claimed: claimed, Claims: claims}
	}
}

// Restored returns the projections of restored memories. They count as claimed
// once, so that the next claim is not the first one.
func Restored(due time.Time) func(memory.Memory) Projection {
	return func(m memory.Memory) Projection {
		state := memory.VectorAbsent
		if m.HasVector() {
			state = memory.VectorPending
		}
		return Projection{State: state, Due: due, Claims: 1}
	}
}

// RefuseTaken refuses ids that rows of other users have in the table. No index of a
// partitioned table does that. The lock makes restored rows visible to the next transaction
// that restores some.
func (u *UserTx) RefuseTaken(ctx context.Context, table string, ids []string) error {
	if u.dialect != Postgres {
		return nil
	}
	_, err := u.exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('hippocampus restore ' || current_schema(), 0))
		WHERE EXISTS (SELECT FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'p')`, table)
	if err != nil {
		return err
	}
	taken, _, err := first(ctx, u.conn, only[bool], `SELECT EXISTS (SELECT FROM `+table+`
		WHERE id = ANY($3::uuid[]) AND (app_id, user_id) <> ($1, $2))`, u.Owner.AppID, u.Owner.UserID, ids)
	if err == nil && taken {
		return memory.Errorf(memory.KindConflict, "an id is taken in %s by another user", table)
	}
	return err
}

// RefuseForeignSuccessors refuses memories that memories of other users supersede. It does not refuse a memory whose
// successor is missing, since that was purged or comes later.
func (u *UserTx) RefuseForeignSuccessors(ctx context.Context, memories []memory.Memory) error {
	var ids []string
	for _, m := range memories {
		if m.SupersededBy != "" {
			ids = append(ids, m.SupersededBy)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	foreign, _, err := first(ctx, u.conn, only[bool], `SELECT EXISTS (SELECT 1 FROM agent_memories
		WHERE id = ANY($3::uuid[]) AND NOT ({|+}app_id = $1 AND {|+}user_id = $2))`,
		u.Owner.AppID, u.Owner.UserID, validIDs(ids))
	if err == nil && foreign {
		return memory.Invalid(memory.Field{Path: "memory.superseded_by", Message: "is not a memory of this user"})
	}
	return u.fault(err, "check the successors of the memories")
}

// Happened notes events for their announcements.
func (u *UserTx) Happened(events ...memory.Event) { u.events = append(u.events, events...) }

func (u *UserTx) Announce(_ context.Context, announcements []memory.Announcement) error {
	u.announced = append(u.announced, announcements...)
	return nil
}

// AnnounceAll makes the announcements of the transaction.
func (u *UserTx) AnnounceAll(ctx context.Context) error {
	return u.announce(ctx, u.Owner, u.Announcements()...)
}

// Announcements returns all that the commit announces.
func (u *UserTx) Announcements() []memory.Announcement {
	return append(announcing(u.events, u.written), u.announced...)
}

// check refuses a row of another owner, or with an invalid id; memoryID may be empty.
// KindNotFound, KindInvalid.
func (u *UserTx) check(what string, owner memory.Owner, id, memoryID string) error {
	if owner != u.Owner {
		return rowcodec.OfAnotherUser(memory.KindNotFound, what, id)
	}
	return rowcodec.CheckIDs(what, id, map[string]string{"memory_id": memoryID})
}
