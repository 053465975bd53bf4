package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/db/sqlstore"
	"hippocampus/internal/memory"
)

// InUser runs f in one transaction that holds the owner's write lock: a lock of
// this process, for which writers wait without a connection, so that one busy user
// does not use up the pool, and a transaction-scoped advisory lock among processes.
// READ COMMITTED is enough. Every change of this owner's rows holds the lock, except
// touches and vector bookkeeping, whose columns f never writes back.
func (s *Store) InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error {
	release, err := s.acquireOwner(ctx, owner)
	if err != nil {
		return fault(err, "wait for the user's other writes")
	}
	defer release()
	err = again(ctx, func() error { return s.inUser(ctx, owner, s.vectors, f) })
	if refused := (refusedVectors{}); errors.As(err, &refused) {
		s.log.WarnContext(ctx, "memories are written without their vectors, which are pushed later", "error", err)
		err = again(ctx, func() error { return s.inUser(ctx, owner, nil, f) })
	}
	return err
}

// acquireOwner acquires the owner's lock of this process, for which it waits as long as
// for an answer of Postgres.
func (s *Store) acquireOwner(ctx context.Context, owner memory.Owner) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.ownerLocks.Acquire(ctx, owner)
}

// userTx is a db.UserTx: every statement names the owner.
type userTx struct {
	sqlstore.UserTx
	store   *Store
	tx      session
	vectors vectorWrites
}

func (u *userTx) Memories(ctx context.Context, ids []string) ([]memory.Memory, error) {
	found, err := memories(ctx, u.tx, `SELECT `+memoryColumns+` FROM agent_memories
		WHERE id = `+among+` AND app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID, onlyIDs(ids))
	return found, fault(err, "read the user's memories")
}

func (u *userTx) SameContent(ctx context.Context, agentID, content string) (m memory.Memory, ok bool, err error) {
	found, err := memories(ctx, u.tx, `SELECT `+memoryColumns+` FROM agent_memories
		WHERE app_id = $1 AND user_id = $2 AND agent_id = $3 AND content_hash = $4 AND content = $5
			AND status = 'active' AND memory_type <> 'message'
		ORDER BY created_at, id LIMIT 1`,
		u.Owner.AppID, u.Owner.UserID, agentID, rowcodec.ContentHash(content), content)
	if err != nil || len(found) == 0 {
		return m, false, fault(err, "look for the same content")
	}
	return found[0], true, nil
}

func (u *userTx) Recent(ctx context.Context, since time.Time, after int64, limit int) ([]memory.Memory, error) {
	found, err := memories(ctx, u.tx, recent, u.Owner.AppID, u.Owner.UserID, since, limit, after)
	return found, fault(err, "read the user's newest writes")
}

// session runs the statements of a transaction.
type session interface {
	querier
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// inUser runs f in one transaction that has the owner's lock. One round trip
// begins the transaction and takes the lock, and one ends it.
func (s *Store) inUser(
	ctx context.Context, owner memory.Owner, vectors Vectors, f func(ctx context.Context, tx db.UserTx) error,
) (err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return fault(err, "reach the user's memories")
	}
	defer conn.Release() // which closes it unless the transaction has ended
	user := &userTx{
		UserTx: s.UserTx(transaction{statements{conn}, begun{conn}, s.jobs}, owner), store: s, tx: conn,
		vectors: vectorWrites{to: vectors},
	}
	if err := user.begin(ctx, conn); err != nil {
		return fault(err, "wait for the user's other writes")
	}
	ended := false
	defer func() {
		if !ended {
			_, _ = conn.Exec(ctx, `ROLLBACK`)
		}
	}()
	if err := f(ctx, user); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	if user.Changed {
		batch.Queue(sqlstore.Revise, rowcodec.OwnerHash(owner), user.Change)
	}
	queueAnnouncements(batch, owner, user.Announcements())
	user.vectors.end(batch)
	for _, day := range user.ActiveDays() { // last, so that other transactions wait for them only briefly
		batch.Queue(sqlstore.NoteDay, day...)
	}
	batch.Queue(`COMMIT`).Exec(func(tag pgconn.CommandTag) error {
		ended = true
		if tag.String() != "COMMIT" {
			return pgx.ErrTxCommitRollback
		}
		return nil
	})
	return fault(user.vectors.ended(conn.SendBatch(ctx, batch).Close()), "commit the user's changes")
}

// begin begins the transaction with the owner's lock, or returns db.ErrErasing.
func (u *userTx) begin(ctx context.Context, conn *pgxpool.Conn) error {
	erasing := false
	batch := &pgx.Batch{}
	batch.Queue(`BEGIN`)
	batch.Queue(lockAlone, rowcodec.OwnerLock(u.Owner))
	// A statement of its own, so that it sees the changes that the lock has waited for.
	batch.Queue(`SELECT `+isErasing+`$1), `+sqlstore.NextChange+`$1)`, rowcodec.OwnerHash(u.Owner)).
		QueryRow(func(row pgx.Row) error { return row.Scan(&erasing, &u.Change) })
	u.vectors.begin(batch)
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		_, _ = conn.Exec(ctx, `ROLLBACK`)
		return err
	}
	if erasing {
		_, _ = conn.Exec(ctx, `ROLLBACK`)
		return db.ErrErasing
	}
	return nil
}

const insertAnnouncements = `
	INSERT INTO announcements (app_id, user_id, kind, at, data)
	SELECT $1, $2, a.kind, a.at, a.data::json
	FROM unnest($3::text[], $4::timestamptz[], $5::text[]) WITH ORDINALITY AS a (kind, at, data, n) ORDER BY n`

// queueAnnouncements queues the insertion of an owner's announcements.
func queueAnnouncements(batch *pgx.Batch, owner memory.Owner, announcements []memory.Announcement) {
	if len(announcements) == 0 {
		return
	}
	batch.Queue(insertAnnouncements, owner.AppID, owner.UserID,
		column(announcements, func(a memory.Announcement) string { return string(a.Kind) }),
		column(announcements, func(a memory.Announcement) time.Time { return a.At }),
		column(announcements, func(a memory.Announcement) string { return string(a.Data) }))
}

// The locks between the mark of an erasure and writers. A mark excludes the
// user's transactions, and it excludes the acceptance of turns, which may run
// many at a time.
const (
	lockAlone  = `SELECT pg_advisory_xact_lock($1)`
	lockShared = `SELECT pg_advisory_xact_lock_shared($1)`
)

// isErasing asks whether an owner is being erased. The owner's hash and a closing
// parenthesis must follow.
const isErasing = `EXISTS (SELECT 1 FROM erasures WHERE state = 'erasing' AND owner_hash = `

// BeginErasure is the shared BeginErasure within the owner's lock of this process.
func (s *Store) BeginErasure(
	ctx context.Context, owner memory.Owner, at, due time.Time, job db.Job,
) (e db.Erasure, err error) {
	release, err := s.acquireOwner(ctx, owner)
	if err != nil {
		return e, fault(err, "wait for the user's writes")
	}
	defer release()
	return s.Store.BeginErasure(ctx, owner, at, due, job)
}

// BeginMerge is the shared BeginMerge within the locks of this process of both users, in the order of their ids.
func (s *Store) BeginMerge(
	ctx context.Context, m db.Merge, at, due time.Time, job db.Job,
) (e db.Erasure, err error) {
	one, other := m.From, m.Into
	if other.UserID < one.UserID {
		one, other = other, one
	}
	release, err := s.acquireOwner(ctx, one)
	if err != nil {
		return e, fault(err, "wait for the user's writes")
	}
	defer release()
	releaseOther, err := s.acquireOwner(ctx, other)
	if err != nil {
		return e, fault(err, "wait for the other user's writes")
	}
	defer releaseOther()
	return s.Store.BeginMerge(ctx, m, at, due, job)
}

// MoveSome is the shared MoveSome within the receiving user's lock of this process.
func (s *Store) MoveSome(
	ctx context.Context, e db.Erasure, into memory.Owner, step db.EraseStep,
) (some db.ErasedSome, err error) {
	release, err := s.acquireOwner(ctx, into)
	if err != nil {
		return some, fault(err, "wait for the user's writes")
	}
	defer release()
	return s.Store.MoveSome(ctx, e, into, step)
}
