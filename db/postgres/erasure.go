package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// The locks that keep a mark and writers apart: a user's transaction and a mark
// exclude each other, and so do a mark and the turns that are let in, of which
// there may be many at once.
const (
	lockAlone  = `SELECT pg_advisory_xact_lock($1)`
	lockShared = `SELECT pg_advisory_xact_lock_shared($1)`
)

// isErasing asks whether the owner of a hash is being erased; the hash and a
// bracket follow.
const isErasing = `EXISTS (SELECT 1 FROM erasures WHERE state = 'erasing' AND owner_hash = `

// turnsKey names the owner's turns among the advisory locks, as rowcodec.OwnerLock names
// the rest. Whoever takes both takes rowcodec.OwnerLock first.
func turnsKey(owner memory.Owner) int64 {
	return int64(binary.BigEndian.Uint64(rowcodec.OwnerHash(owner)[8:]))
}

// admit takes a lock until the transaction ends, and then answers db.ErrErasing
// for an owner who is being erased: a mark that is being made is waited for, and
// one that comes later waits for this transaction.
func admit(ctx context.Context, tx pgx.Tx, lock string, key int64, owner memory.Owner) error {
	batch := &pgx.Batch{}
	erasing := admission(batch, lock, key, owner)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	if *erasing {
		return db.ErrErasing
	}
	return nil
}

// admission queues a lock, and whether the owner is being erased: two
// statements, of which the second sees what the first has waited for.
func admission(batch *pgx.Batch, lock string, key int64, owner memory.Owner) (erasing *bool) {
	erasing = new(bool)
	batch.Queue(lock, key)
	batch.Queue(`SELECT `+isErasing+`$1)`, rowcodec.OwnerHash(owner)).
		QueryRow(func(row pgx.Row) error { return row.Scan(erasing) })
	return erasing
}

// BeginErasure marks the owner and enqueues the job.
func (s *Store) BeginErasure(ctx context.Context, owner memory.Owner, at, due time.Time, job db.Job) (e db.Erasure, err error) {
	leave, err := s.writers.enter(ctx, owner)
	if err != nil {
		return e, fault(err, "wait for the user's writes")
	}
	defer leave()
	err = again(ctx, func() error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			for _, key := range []int64{rowcodec.OwnerLock(owner), turnsKey(owner)} {
				if _, err := tx.Exec(ctx, lockAlone, key); err != nil {
					return err
				}
			}
			if e, err = erasure(ctx, tx, owner, ""); err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			if errors.Is(err, pgx.ErrNoRows) || !e.DoneAt.IsZero() {
				e = db.Erasure{Owner: owner, Round: e.Round + 1, RequestedAt: memory.Instant(at)}
				if _, err := tx.Exec(ctx, `
					INSERT INTO erasures (owner_hash, round, state, requested_at, deleted) VALUES ($1, $2, 'erasing', $3, $4)
					ON CONFLICT (owner_hash) DO UPDATE SET round = $2, state = 'erasing', requested_at = $3, done_at = NULL, deleted = $4`,
					rowcodec.OwnerHash(owner), e.Round, e.RequestedAt, rowcodec.ErasedJSON(db.Erased{})); err != nil {
					return err
				}
			}
			_, err := s.jobs.InsertTx(ctx, tx, job, rowcodec.OnceFrom(due))
			return err
		})
	})
	return e, fault(err, "mark the user as being erased")
}

// Erasure returns the owner's latest erasure.
func (s *Store) Erasure(ctx context.Context, owner memory.Owner) (db.Erasure, error) {
	e, err := erasure(ctx, s.pool, owner, "")
	return e, fault(err, "find the user's erasure")
}

func erasure(ctx context.Context, q querier, owner memory.Owner, lock string) (db.Erasure, error) {
	// A failed query reports its error through the rows.
	rows, _ := q.Query(ctx, `SELECT round, requested_at, done_at, deleted FROM erasures WHERE owner_hash = $1 `+lock, rowcodec.OwnerHash(owner))
	return pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (e db.Erasure, err error) {
		var done *time.Time
		var deleted []byte
		if err := row.Scan(&e.Round, &e.RequestedAt, &done, &deleted); err != nil {
			return e, err
		}
		e.Owner, e.DoneAt = owner, orZero(done)
		e.Deleted, err = rowcodec.Erased(deleted)
		return e, err
	})
}

// underWay returns an erasure as it stands and keeps it so for the
// transaction, or answers db.ErrErased.
func underWay(ctx context.Context, tx pgx.Tx, e db.Erasure) (db.Erasure, error) {
	is, err := erasure(ctx, tx, e.Owner, `FOR UPDATE`)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (is.Round != e.Round || !is.DoneAt.IsZero()) {
		return is, db.ErrErased
	}
	return is, err
}

// EraseSome deletes some rows of each kind.
func (s *Store) EraseSome(ctx context.Context, e db.Erasure, step db.EraseStep) (some db.ErasedSome, err error) {
	err = again(ctx, func() error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			is, err := underWay(ctx, tx, e)
			if err != nil {
				return err
			}
			x := &eraser{ctx: ctx, tx: tx, owner: e.Owner}
			x.turns(step.Limit)
			x.memories(step.Now, step.Limit)
			x.rest(step.Limit, step.Keep)
			some = x.some
			sum := is.Deleted.Plus(some.Deleted)
			sum.Vectors += step.Vectors
			x.run(revise, rowcodec.OwnerHash(e.Owner), rowcodec.NewRevision())
			x.run(`UPDATE erasures SET deleted = $1 WHERE owner_hash = $2`, rowcodec.ErasedJSON(sum), rowcodec.OwnerHash(e.Owner))
			return x.err
		})
	})
	if err != nil {
		return db.ErasedSome{}, fault(err, "erase the user")
	}
	return some, nil
}

// EndErasure makes sure that nothing is left and takes the mark away.
func (s *Store) EndErasure(ctx context.Context, e db.Erasure, at time.Time, vectors int) (done db.Erasure, err error) {
	err = again(ctx, func() error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			if done, err = underWay(ctx, tx, e); err != nil {
				return err
			}
			var left bool
			err := tx.QueryRow(ctx, `SELECT
				EXISTS (SELECT 1 FROM turns WHERE app_id = $1 AND user_id = $2)
				OR EXISTS (SELECT 1 FROM conversations WHERE app_id = $1 AND user_id = $2)
				OR EXISTS (SELECT 1 FROM consolidation_jobs WHERE app_id = $1 AND user_id = $2)
				OR EXISTS (SELECT 1 FROM candidates WHERE app_id = $1 AND user_id = $2)
				OR EXISTS (SELECT 1 FROM agent_memories WHERE app_id = $1 AND user_id = $2)
				OR EXISTS (SELECT 1 FROM memory_events WHERE app_id = $1 AND user_id = $2)
				OR EXISTS (SELECT 1 FROM facts WHERE app_id = $1 AND user_id = $2)
				OR EXISTS (SELECT 1 FROM instructions WHERE app_id = $1 AND scope = 'user' AND holder = $2)
				OR EXISTS (SELECT 1 FROM instruction_versions WHERE app_id = $1 AND scope = 'user' AND holder = $2)
				OR EXISTS (SELECT 1 FROM skills WHERE app_id = $1 AND user_id = $2)
				OR EXISTS (SELECT 1 FROM skill_outcomes WHERE app_id = $1 AND user_id = $2)
				OR EXISTS (SELECT 1 FROM announcements WHERE app_id = $1 AND user_id = $2)
				OR EXISTS (SELECT 1 FROM user_states WHERE app_id = $1 AND user_id = $2)`,
				e.Owner.AppID, e.Owner.UserID).Scan(&left)
			if err != nil {
				return err
			}
			if left {
				return db.ErrLeft
			}
			x := &eraser{ctx: ctx, tx: tx, owner: e.Owner}
			x.jobs(`args @> $1::jsonb`, rowcodec.NamesOwner(e.Owner))
			done.DoneAt = memory.Instant(at)
			done.Deleted.Vectors += vectors
			x.run(`UPDATE erasures SET state = 'done', done_at = $1, deleted = $2 WHERE owner_hash = $3`,
				done.DoneAt, rowcodec.ErasedJSON(done.Deleted), rowcodec.OwnerHash(e.Owner))
			return x.err
		})
	})
	return done, fault(err, "end the erasure")
}

// eraser deletes within one step; its first error ends it.
type eraser struct {
	ctx   context.Context
	tx    pgx.Tx
	owner memory.Owner
	some  db.ErasedSome
	err   error
}

func (x *eraser) run(sql string, args ...any) int {
	if x.err != nil {
		return 0
	}
	tag, err := x.tx.Exec(x.ctx, sql, args...)
	x.err = err
	return int(tag.RowsAffected())
}

func (x *eraser) ids(sql string, args ...any) (ids []string) {
	if x.err == nil {
		rows, _ := x.tx.Query(x.ctx, sql, args...)
		ids, x.err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	return ids
}

// jobs deletes jobs and returns how many. Of those that may be being worked
// River still needs the rows, and keeps them with nothing in them: a worker that
// gets such a job finds that there is nothing that it is about.
func (x *eraser) jobs(which string, args ...any) int {
	deleted := x.run(`DELETE FROM river_job WHERE (attempted_at IS NULL OR finalized_at IS NOT NULL) AND `+which, args...)
	return deleted + x.run(`UPDATE river_job SET args = '{}', errors = NULL, unique_key = NULL, unique_states = NULL WHERE `+which, args...)
}

// turns deletes turns with their candidates and jobs. Whoever enqueues a job
// about a turn changes its row, so that none comes after.
func (x *eraser) turns(limit int) {
	ids := x.ids(`SELECT id FROM turns WHERE app_id = $1 AND user_id = $2 ORDER BY accepted_at, id LIMIT $3 FOR UPDATE`,
		x.owner.AppID, x.owner.UserID, limit)
	if len(ids) == 0 {
		return
	}
	d := &x.some.Deleted
	d.Jobs += x.jobs(`args @> ANY($1::text[]::jsonb[])`, rowcodec.NameTurns(ids))
	d.Candidates += x.run(`DELETE FROM candidates WHERE turn_id = ANY($1::uuid[])`, ids)
	d.Turns += x.run(`DELETE FROM turns WHERE id = ANY($1::uuid[])`, ids)
}

// memories deletes memories that nobody is pushing, with their relations.
func (x *eraser) memories(now time.Time, limit int) {
	ids := x.ids(`SELECT id FROM agent_memories WHERE app_id = $1 AND user_id = $2
		AND (vector_claimed_until IS NULL OR vector_claimed_until <= $3) ORDER BY created_at, id LIMIT $4 FOR UPDATE`,
		x.owner.AppID, x.owner.UserID, now, limit)
	d := &x.some.Deleted
	if len(ids) > 0 {
		d.Relations += x.run(`DELETE FROM memory_relations WHERE from_id = ANY($1::uuid[])`, ids)
		d.Relations += x.run(`DELETE FROM memory_relations WHERE to_id = ANY($1::uuid[])`, ids)
		x.run(`DELETE FROM embeddings WHERE memory_id = ANY($1::uuid[])`, ids)
		d.Memories += x.run(`DELETE FROM agent_memories WHERE id = ANY($1::uuid[])`, ids)
	}
	x.some.Memories = ids
	if len(ids) < limit && x.err == nil {
		x.err = x.tx.QueryRow(x.ctx, `SELECT count(*) FROM agent_memories WHERE app_id = $1 AND user_id = $2`,
			x.owner.AppID, x.owner.UserID).Scan(&x.some.Left)
	}
}

// rest deletes histories, jobs about the owner but for one kind, and what upkeep has noted.
func (x *eraser) rest(limit int, keep string) {
	d := &x.some.Deleted
	d.Consolidations += x.run(`DELETE FROM consolidation_jobs WHERE id IN (
		SELECT id FROM consolidation_jobs WHERE app_id = $1 AND user_id = $2 LIMIT $3)`, x.owner.AppID, x.owner.UserID, limit)
	d.Conversations += x.run(`DELETE FROM conversations WHERE app_id = $1 AND user_id = $2 AND id IN (
		SELECT c.id FROM conversations AS c WHERE c.app_id = $1 AND c.user_id = $2 AND NOT EXISTS (
			SELECT 1 FROM consolidation_jobs WHERE app_id = c.app_id AND user_id = c.user_id AND conversation_id = c.id)
		LIMIT $3)`, x.owner.AppID, x.owner.UserID, limit)
	d.Events += x.run(`DELETE FROM memory_events WHERE id IN (
		SELECT id FROM memory_events WHERE app_id = $1 AND user_id = $2 LIMIT $3)`, x.owner.AppID, x.owner.UserID, limit)
	d.Facts += x.run(`DELETE FROM facts WHERE id IN (
		SELECT id FROM facts WHERE app_id = $1 AND user_id = $2 LIMIT $3)`, x.owner.AppID, x.owner.UserID, limit)
	x.procedures(limit)
	d.Announcements += x.run(`DELETE FROM announcements WHERE (xact, seq) IN (
		SELECT xact, seq FROM announcements WHERE app_id = $1 AND user_id = $2 LIMIT $3)`, x.owner.AppID, x.owner.UserID, limit)
	d.Jobs += x.jobs(`id IN (SELECT id FROM river_job WHERE args @> $1::jsonb AND kind <> $2 LIMIT $3)`, rowcodec.NamesOwner(x.owner), keep, limit)
	x.run(`DELETE FROM user_states WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
}

// procedures deletes the owner's instructions and skills.
func (x *eraser) procedures(limit int) {
	d := &x.some.Deleted
	d.Instructions += x.run(`DELETE FROM instruction_versions WHERE app_id = $1 AND scope = 'user' AND holder = $2 AND (name, version) IN (
		SELECT name, version FROM instruction_versions WHERE app_id = $1 AND scope = 'user' AND holder = $2 LIMIT $3)`, x.owner.AppID, x.owner.UserID, limit)
	x.run(`DELETE FROM instructions WHERE app_id = $1 AND scope = 'user' AND holder = $2 AND NOT EXISTS (SELECT 1 FROM instruction_versions v
		WHERE v.app_id = $1 AND v.scope = 'user' AND v.holder = $2 AND v.name = instructions.name)`, x.owner.AppID, x.owner.UserID)
	d.Skills += x.run(`DELETE FROM skills WHERE id IN (
		SELECT id FROM skills WHERE app_id = $1 AND user_id = $2 LIMIT $3)`, x.owner.AppID, x.owner.UserID, limit)
	d.Outcomes += x.run(`DELETE FROM skill_outcomes WHERE app_id = $1 AND user_id = $2 AND id IN (
		SELECT id FROM skill_outcomes WHERE app_id = $1 AND user_id = $2 LIMIT $3)`, x.owner.AppID, x.owner.UserID, limit)
}
