package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// refuseErasing answers db.ErrErasing for an owner who is being erased. A
// transaction that passes it ends before a mark can be made.
func refuseErasing(ctx context.Context, tx *sql.Tx, owner memory.Owner) error {
	var erasing bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM erasures WHERE owner_hash = ? AND state = 'erasing')`,
		rowcodec.OwnerHash(owner)).Scan(&erasing)
	if err == nil && erasing {
		return db.ErrErasing
	}
	return err
}

// BeginErasure marks the owner and enqueues the job.
func (s *Store) BeginErasure(ctx context.Context, owner memory.Owner, at, due time.Time, job db.Job) (e db.Erasure, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		if e, err = erasure(ctx, tx, owner); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if errors.Is(err, sql.ErrNoRows) || !e.DoneAt.IsZero() {
			e = db.Erasure{Owner: owner, Round: e.Round + 1, RequestedAt: memory.Instant(at)}
			if _, err := tx.ExecContext(ctx, `
				INSERT INTO erasures (owner_hash, round, state, requested_at, deleted) VALUES (?1, ?2, 'erasing', ?3, ?4)
				ON CONFLICT (owner_hash) DO UPDATE SET round = ?2, state = 'erasing', requested_at = ?3, done_at = NULL, deleted = ?4`,
				rowcodec.OwnerHash(owner), e.Round, moment(at), rowcodec.ErasedJSON(db.Erased{})); err != nil {
				return err
			}
		}
		_, err := s.jobs.InsertTx(ctx, tx, job, rowcodec.OnceFrom(due))
		return err
	})
	return e, fault(err, "mark the user as being erased")
}

// Erasure returns the owner's latest erasure.
func (s *Store) Erasure(ctx context.Context, owner memory.Owner) (db.Erasure, error) {
	e, err := erasure(ctx, s.reader, owner)
	return e, fault(err, "find the user's erasure")
}

func erasure(ctx context.Context, q querier, owner memory.Owner) (db.Erasure, error) {
	var deleted string
	e, err := one(ctx, q, func(e *db.Erasure) []any {
		return []any{&e.Round, (*instant)(&e.RequestedAt), (*instant)(&e.DoneAt), &deleted}
	}, `SELECT round, requested_at, done_at, deleted FROM erasures WHERE owner_hash = ?`, rowcodec.OwnerHash(owner))
	if err == nil {
		e.Owner = owner
		e.Deleted, err = rowcodec.Erased([]byte(deleted))
	}
	return e, err
}

// underWay returns an erasure as it stands, or db.ErrErased.
func underWay(ctx context.Context, tx *sql.Tx, e db.Erasure) (db.Erasure, error) {
	is, err := erasure(ctx, tx, e.Owner)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (is.Round != e.Round || !is.DoneAt.IsZero()) {
		return is, db.ErrErased
	}
	return is, err
}

// EraseSome deletes some rows of each kind.
func (s *Store) EraseSome(ctx context.Context, e db.Erasure, step db.EraseStep) (some db.ErasedSome, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
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
		x.run(`UPDATE erasures SET deleted = ? WHERE owner_hash = ?`, rowcodec.ErasedJSON(sum), rowcodec.OwnerHash(e.Owner))
		return x.err
	})
	if err != nil {
		return db.ErasedSome{}, fault(err, "erase the user")
	}
	return some, nil
}

// EndErasure makes sure that nothing is left and takes the mark away.
func (s *Store) EndErasure(ctx context.Context, e db.Erasure, at time.Time, vectors int) (done db.Erasure, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		if done, err = underWay(ctx, tx, e); err != nil {
			return err
		}
		var left bool
		err := tx.QueryRowContext(ctx, `SELECT
			EXISTS (SELECT 1 FROM turns WHERE app_id = ?1 AND user_id = ?2)
			OR EXISTS (SELECT 1 FROM conversations WHERE app_id = ?1 AND user_id = ?2)
			OR EXISTS (SELECT 1 FROM consolidation_jobs WHERE app_id = ?1 AND user_id = ?2)
			OR EXISTS (SELECT 1 FROM candidates WHERE app_id = ?1 AND user_id = ?2)
			OR EXISTS (SELECT 1 FROM agent_memories WHERE app_id = ?1 AND user_id = ?2)
			OR EXISTS (SELECT 1 FROM memory_events WHERE app_id = ?1 AND user_id = ?2)
			OR EXISTS (SELECT 1 FROM facts WHERE app_id = ?1 AND user_id = ?2)
			OR EXISTS (SELECT 1 FROM instructions WHERE app_id = ?1 AND scope = 'user' AND holder = ?2)
			OR EXISTS (SELECT 1 FROM instruction_versions WHERE app_id = ?1 AND scope = 'user' AND holder = ?2)
			OR EXISTS (SELECT 1 FROM skills WHERE app_id = ?1 AND user_id = ?2)
			OR EXISTS (SELECT 1 FROM skill_outcomes WHERE app_id = ?1 AND user_id = ?2)
			OR EXISTS (SELECT 1 FROM announcements WHERE app_id = ?1 AND user_id = ?2)
			OR EXISTS (SELECT 1 FROM user_states WHERE app_id = ?1 AND user_id = ?2)`,
			e.Owner.AppID, e.Owner.UserID).Scan(&left)
		if err != nil {
			return err
		}
		if left {
			return db.ErrLeft
		}
		x := &eraser{ctx: ctx, tx: tx, owner: e.Owner}
		x.jobs(aboutOwner, e.Owner.AppID, e.Owner.UserID)
		done.DoneAt = memory.Instant(at)
		done.Deleted.Vectors += vectors
		x.run(`UPDATE erasures SET state = 'done', done_at = ?, deleted = ? WHERE owner_hash = ?`,
			moment(at), rowcodec.ErasedJSON(done.Deleted), rowcodec.OwnerHash(e.Owner))
		return x.err
	})
	return done, fault(err, "end the erasure")
}

// What a job is about. River keeps payloads as blobs of JSON text.
const (
	ofApp      = `json_extract(CAST(args AS TEXT), '$.app_id')`
	ofUser     = `json_extract(CAST(args AS TEXT), '$.user_id')`
	ofTurn     = `json_extract(CAST(args AS TEXT), '$.turn_id')`
	aboutOwner = ofApp + ` = ? AND ` + ofUser + ` = ?`
)

// jobIndexes find the jobs about a turn or an owner. They are made after
// River's tables are, whose migrations may drop them.
var jobIndexes = []string{
	`CREATE INDEX IF NOT EXISTS river_job_of_turn ON river_job (` + ofTurn + `) WHERE ` + ofTurn + ` IS NOT NULL`,
	`CREATE INDEX IF NOT EXISTS river_job_of_user ON river_job (` + ofUser + `, ` + ofApp + `) WHERE ` + ofUser + ` IS NOT NULL`,
}

// eraser deletes within one step; its first error ends it.
type eraser struct {
	ctx   context.Context
	tx    *sql.Tx
	owner memory.Owner
	some  db.ErasedSome
	err   error
}

func (x *eraser) run(query string, args ...any) int {
	if x.err != nil {
		return 0
	}
	result, err := x.tx.ExecContext(x.ctx, query, args...)
	if x.err = err; err != nil {
		return 0
	}
	return int(affected(result))
}

func (x *eraser) ids(query string, args ...any) (ids []string) {
	if x.err == nil {
		ids, x.err = collect(x.ctx, x.tx, func(id *string) []any { return []any{id} }, query, args...)
	}
	return ids
}

// jobs deletes jobs and returns how many. Of those that may be being worked
// River still needs the rows, and keeps them with nothing in them: a worker that
// gets such a job finds that there is nothing that it is about.
func (x *eraser) jobs(which string, args ...any) int {
	deleted := x.run(`DELETE FROM river_job WHERE (attempted_at IS NULL OR finalized_at IS NOT NULL) AND `+which, args...)
	return deleted + x.run(`UPDATE river_job SET args = CAST('{}' AS BLOB), errors = NULL, unique_key = NULL, unique_states = NULL WHERE `+which, args...)
}

// turns deletes turns with their candidates and jobs. Whoever enqueues a job
// about a turn changes its row, so that none comes after.
func (x *eraser) turns(limit int) {
	ids := x.ids(`SELECT id FROM turns WHERE app_id = ? AND user_id = ? ORDER BY accepted_at, id LIMIT ?`, x.owner.AppID, x.owner.UserID, limit)
	if len(ids) == 0 {
		return
	}
	d := &x.some.Deleted
	d.Jobs += x.jobs(ofTurn+` IN (SELECT value FROM json_each(?))`, list(ids))
	d.Candidates += x.run(`DELETE FROM candidates WHERE turn_id IN (SELECT value FROM json_each(?))`, list(ids))
	d.Turns += x.run(`DELETE FROM turns WHERE id IN (SELECT value FROM json_each(?))`, list(ids))
}

// memories deletes memories that nobody is pushing, with their relations.
func (x *eraser) memories(now time.Time, limit int) {
	ids := x.ids(`SELECT id FROM agent_memories WHERE app_id = ? AND user_id = ?
		AND (vector_claimed_until IS NULL OR vector_claimed_until <= ?) ORDER BY created_at, id LIMIT ?`,
		x.owner.AppID, x.owner.UserID, moment(now), limit)
	d := &x.some.Deleted
	if len(ids) > 0 {
		d.Relations += x.run(`DELETE FROM memory_relations WHERE from_id IN (SELECT value FROM json_each(?1))
			OR to_id IN (SELECT value FROM json_each(?1))`, list(ids))
		d.Memories += x.run(`DELETE FROM agent_memories WHERE id IN (SELECT value FROM json_each(?))`, list(ids))
	}
	x.some.Memories = ids
	if len(ids) < limit && x.err == nil {
		x.err = x.tx.QueryRowContext(x.ctx, `SELECT count(*) FROM agent_memories WHERE app_id = ? AND user_id = ?`,
			x.owner.AppID, x.owner.UserID).Scan(&x.some.Left)
	}
}

// rest deletes histories, jobs about the owner but for one kind, and what upkeep has noted.
func (x *eraser) rest(limit int, keep string) {
	d := &x.some.Deleted
	d.Consolidations += x.run(`DELETE FROM consolidation_jobs WHERE id IN (
		SELECT id FROM consolidation_jobs WHERE app_id = ? AND user_id = ? LIMIT ?)`, x.owner.AppID, x.owner.UserID, limit)
	d.Conversations += x.run(`DELETE FROM conversations WHERE app_id = ?1 AND user_id = ?2 AND id IN (
		SELECT c.id FROM conversations AS c WHERE c.app_id = ?1 AND c.user_id = ?2 AND NOT EXISTS (
			SELECT 1 FROM consolidation_jobs WHERE app_id = c.app_id AND user_id = c.user_id AND conversation_id = c.id)
		LIMIT ?3)`, x.owner.AppID, x.owner.UserID, limit)
	d.Events += x.run(`DELETE FROM memory_events WHERE id IN (
		SELECT id FROM memory_events WHERE app_id = ? AND user_id = ? LIMIT ?)`, x.owner.AppID, x.owner.UserID, limit)
	d.Facts += x.run(`DELETE FROM facts WHERE id IN (
		SELECT id FROM facts WHERE app_id = ? AND user_id = ? LIMIT ?)`, x.owner.AppID, x.owner.UserID, limit)
	x.procedures(limit)
	d.Announcements += x.run(`DELETE FROM announcements WHERE seq IN (
		SELECT seq FROM announcements WHERE app_id = ? AND user_id = ? LIMIT ?)`, x.owner.AppID, x.owner.UserID, limit)
	d.Jobs += x.jobs(`id IN (SELECT id FROM river_job WHERE `+aboutOwner+` AND kind <> ? LIMIT ?)`, x.owner.AppID, x.owner.UserID, keep, limit)
	x.run(`DELETE FROM user_states WHERE app_id = ? AND user_id = ?`, x.owner.AppID, x.owner.UserID)
}

// procedures deletes the owner's instructions and skills.
func (x *eraser) procedures(limit int) {
	d := &x.some.Deleted
	d.Instructions += x.run(`DELETE FROM instruction_versions WHERE app_id = ?1 AND scope = 'user' AND holder = ?2 AND (name, version) IN (
		SELECT name, version FROM instruction_versions WHERE app_id = ?1 AND scope = 'user' AND holder = ?2 LIMIT ?3)`, x.owner.AppID, x.owner.UserID, limit)
	x.run(`DELETE FROM instructions WHERE app_id = ?1 AND scope = 'user' AND holder = ?2 AND NOT EXISTS (SELECT 1 FROM instruction_versions v
		WHERE v.app_id = ?1 AND v.scope = 'user' AND v.holder = ?2 AND v.name = instructions.name)`, x.owner.AppID, x.owner.UserID)
	d.Skills += x.run(`DELETE FROM skills WHERE id IN (
		SELECT id FROM skills WHERE app_id = ?1 AND user_id = ?2 LIMIT ?3)`, x.owner.AppID, x.owner.UserID, limit)
	d.Outcomes += x.run(`DELETE FROM skill_outcomes WHERE app_id = ?1 AND user_id = ?2 AND id IN (
		SELECT id FROM skill_outcomes WHERE app_id = ?1 AND user_id = ?2 LIMIT ?3)`, x.owner.AppID, x.owner.UserID, limit)
}
