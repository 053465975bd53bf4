package sqlstore

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// What a job is about, as expressions of SQLite. SQLite's indexes of River's jobs are on these expressions. On SQLite,
// River keeps payloads as blobs of JSON text.
const (
	JobApp  = `json_extract(CAST(args AS TEXT), '$.app_id')`
	JobUser = `json_extract(CAST(args AS TEXT), '$.user_id')`
	JobTurn = `json_extract(CAST(args AS TEXT), '$.turn_id')`
)

// OwnedTables are the tables whose rows have an app_id and a user_id.
var OwnedTables = []string{
	"turns", "conversations", "consolidation_jobs", "candidates", "agent_memories", "memory_events", "facts",
	"skills", "skill_outcomes", "memory_files", "memory_file_versions", "announcements", "recalls", "user_states",
	"indexes", "active_days", "user_zones", "user_modes", "message_ids", "documents", "reprocessings",
	"reprocessed_turns", "proposed_insights", "filled_profiles", "participants", "feedback",
	"episodes", "episode_memories", "episode_states", "pooled",
}

// aboutOwner chooses the jobs about the owner in $1 and $2.
const aboutOwner = `{args @> jsonb_build_object('app_id', $1::text, 'user_id', $2::text)|` + JobApp + ` = $1 AND ` +
	JobUser + ` = $2}`

func (s *Store) BeginErasure(
	ctx context.Context, owner memory.Owner, at, due time.Time, job db.Job,
) (e db.Erasure, err error) {
	err = s.transact(ctx, func(tx tx) error {
		for _, key := range []int64{rowcodec.OwnerLock(owner), rowcodec.TurnsLock(owner)} {
			if err := tx.lock(ctx, key); err != nil {
				return err
			}
		}
		var ok bool
		if e, ok, err = erasure(ctx, tx.conn, owner, ""); err != nil {
			return err
		}
		running := ok && e.DoneAt.IsZero()
		receives, err := tx.receives(ctx, owner)
		if err == nil && (receives || running && e.Into != "") {
			err = db.ErrErasing
		}
		if err == nil && !running {
			e = db.Erasure{Owner: owner, Round: e.Round + 1, RequestedAt: memory.Instant(at)}
			err = tx.mark(ctx, e, nil)
		}
		if err != nil {
			return err
		}
		return tx.enqueueDue(ctx, job, due)
	})
	return e, s.fault(err, "mark the user as being erased")
}

// mark stores a new erasure, after which nothing is written for its owner. into is a hash of the user to whom the rows
// move.
func (t tx) mark(ctx context.Context, e db.Erasure, into []byte) error {
	_, err := t.exec(ctx, `
		INSERT INTO erasures (owner_hash, round, state, requested_at, deleted, into_hash)
		VALUES ($1, $2, 'erasing', $3, $4, $5)
		ON CONFLICT (owner_hash) DO UPDATE
		SET round = $2, state = 'erasing', requested_at = $3, done_at = NULL, deleted = $4, into_hash = $5`,
		rowcodec.OwnerHash(e.Owner), e.Round, e.RequestedAt, rowcodec.ErasedJSON(db.Erased{}), into)
	return err
}

func (t tx) enqueueDue(ctx context.Context, job db.Job, due time.Time) error {
	fromDue := once()
	fromDue.ScheduledAt = due
	return t.enqueue(ctx, []river.InsertManyParams{{Args: job, InsertOpts: fromDue}})
}

func (s *Store) Erasure(ctx context.Context, owner memory.Owner) (db.Erasure, error) {
	e, ok, err := erasure(ctx, s.conn, owner, "")
	const doing = "find the user's erasure"
	return e, s.require(ok, err, doing, memory.Errorf(memory.KindNotFound, "cannot %s: it does not exist", doing))
}

func erasure(ctx context.Context, c conn, owner memory.Owner, lock string) (db.Erasure, bool, error) {
	var deleted json.RawMessage
	var into []byte
	e, ok, err := first(ctx, c, func(e *db.Erasure) []any {
		return []any{&e.Round, &e.RequestedAt, &e.DoneAt, &deleted, &into}
	}, `SELECT round, requested_at, done_at, deleted, into_hash FROM erasures WHERE owner_hash = $1`+lock,
		rowcodec.OwnerHash(owner))
	if err == nil && ok {
		e.Owner, e.Into = owner, hex.EncodeToString(into)
		e.Deleted, err = rowcodec.Erased(deleted)
	}
	return e, ok, err
}

// underWay returns an erasure as it stands and locks it until the transaction
// ends, or returns db.ErrErased.
func underWay(ctx context.Context, tx tx, e db.Erasure) (db.Erasure, error) {
	current, ok, err := erasure(ctx, tx.conn, e.Owner, ` {FOR UPDATE|}`)
	if err == nil && (!ok || current.Round != e.Round || !current.DoneAt.IsZero()) {
		return current, db.ErrErased
	}
	return current, err
}

func (s *Store) EraseSome(ctx context.Context, e db.Erasure, step db.EraseStep) (some db.ErasedSome, err error) {
	err = s.transact(ctx, func(tx tx) error {
		current, err := underWay(ctx, tx, e)
		if err != nil {
			return err
		}
		x := &eraser{ctx: ctx, conn: tx.conn, owner: e.Owner}
		x.turns(step.Limit)
		x.memories(step.Now, step.Limit)
		x.contributions(tx, step)
		x.rest(step.Limit, step.Keep)
		some = x.some
		sum := current.Deleted.Plus(some.Deleted)
		sum.Vectors += step.Vectors
		x.count(sum)
		return x.err
	})
	if err != nil {
		return db.ErasedSome{}, s.fault(err, "erase the user")
	}
	return some, nil
}

func (s *Store) EndErasure(ctx context.Context, e db.Erasure, at time.Time, vectors int) (done db.Erasure, err error) {
	err = s.transact(ctx, func(tx tx) error {
		if done, err = underWay(ctx, tx, e); err != nil {
			return err
		}
		x := &eraser{ctx: ctx, conn: tx.conn, owner: e.Owner}
		x.run(`DELETE FROM pooled WHERE id IN (SELECT p.id`+erasedCopies+`)`, e.Owner.AppID, e.Owner.UserID)
		if x.err != nil {
			return x.err
		}
		left, err := tx.holdsRows(ctx, e.Owner)
		if err != nil {
			return err
		}
		if left {
			return db.ErrLeft
		}
		x.jobs(aboutOwner, e.Owner.AppID, e.Owner.UserID)
		done.DoneAt = memory.Instant(at)
		done.Deleted.Vectors += vectors
		x.run(`UPDATE erasures SET state = 'done', done_at = $1, deleted = $2 WHERE owner_hash = $3`,
			done.DoneAt, rowcodec.ErasedJSON(done.Deleted), rowcodec.OwnerHash(e.Owner))
		return x.err
	})
	return done, s.fault(err, "end the erasure")
}

// holdsRows reports whether a table has a row of the owner.
func (c conn) holdsRows(ctx context.Context, owner memory.Owner) (bool, error) {
	holds, _, err := first(ctx, c, only[bool], `SELECT EXISTS (SELECT 1 FROM `+
		strings.Join(OwnedTables, ` WHERE app_id = $1 AND user_id = $2) OR EXISTS (SELECT 1 FROM `)+
		` WHERE app_id = $1 AND user_id = $2)
		OR EXISTS (SELECT 1 FROM instructions WHERE app_id = $1 AND scope = 'user' AND holder = $2)
		OR EXISTS (SELECT 1 FROM instruction_versions WHERE app_id = $1 AND scope = 'user' AND holder = $2)`,
		owner.AppID, owner.UserID)
	return holds, err
}

// eraser deletes within one step; its first error ends it.
type eraser struct {
	conn
	ctx   context.Context
	owner memory.Owner
	some  db.ErasedSome
	err   error
}

// run runs a statement and returns how many rows it affected.
func (x *eraser) run(query string, args ...any) (n int) {
	if x.err == nil {
		n, x.err = x.exec(x.ctx, query, args...)
	}
	return n
}

// count notes what has been taken from the owner so far. What was read of the owner before is out of date.
func (x *eraser) count(sum db.Erased) {
	x.outdate(x.owner)
	x.run(`UPDATE erasures SET deleted = $1 WHERE owner_hash = $2`, rowcodec.ErasedJSON(sum), rowcodec.OwnerHash(x.owner))
}

// outdate notes that what was read of an owner before is out of date.
func (x *eraser) outdate(owner memory.Owner) {
	x.run(`INSERT INTO revisions (owner_hash, revision, complete_after) VALUES ($1, 2, 2)
		ON CONFLICT (owner_hash) DO UPDATE SET revision = revisions.revision + 1,
		complete_after = revisions.revision + 1`, rowcodec.OwnerHash(owner))
}

// ofOwner is run with the owner and a limit as parameters.
func (x *eraser) ofOwner(limit int, query string) int {
	return x.run(query, x.owner.AppID, x.owner.UserID, limit)
}

// rows deletes rows of the owner from a table with a primary key.
func (x *eraser) rows(table, key string, limit int) int {
	return x.ofOwner(limit, `DELETE FROM `+table+` WHERE {app_id = $1 AND user_id = $2 AND |}(`+key+`) IN (
		SELECT `+key+` FROM `+table+` WHERE app_id = $1 AND user_id = $2 LIMIT $3)`)
}

func (x *eraser) ids(query string, args ...any) (ids []string) {
	if x.err == nil {
		ids, x.err = collect(x.ctx, x.conn, only[string], query, args...)
	}
	return ids
}

// jobs deletes jobs and returns how many. River still needs the rows of jobs that may be running: these rows stay
// without a payload, and their workers find nothing to work on.
func (x *eraser) jobs(which string, args ...any) int {
	deleted := x.run(`DELETE FROM river_job WHERE (attempted_at IS NULL OR finalized_at IS NOT NULL) AND `+which, args...)
	return deleted + x.run(`UPDATE river_job SET args = {jsonb_build_object()|CAST(json_object() AS BLOB)},
		errors = NULL, unique_key = NULL, unique_states = NULL WHERE `+which, args...)
}

// turns deletes turns with their candidates and jobs. Every transaction that enqueues a job about a turn changes the
// turn's row, so that no job is enqueued afterwards.
func (x *eraser) turns(limit int) {
	ids := x.ids(`SELECT id FROM turns WHERE app_id = $1 AND user_id = $2 ORDER BY accepted_at, id LIMIT $3 {FOR UPDATE|}`,
		x.owner.AppID, x.owner.UserID, limit)
	if len(ids) == 0 {
		return
	}
	payloads := slices.Clone(ids)
	if x.dialect == Postgres {
		for i, id := range ids {
			payloads[i] = `{"turn_id": "` + id + `"}`
		}
	}
	d := &x.some.Deleted
	d.Jobs += x.jobs(`{args @> ANY($1::text[]::jsonb[])|`+JobTurn+` = ANY($1)}`, payloads)
	d.Candidates += x.run(`DELETE FROM candidates WHERE turn_id = ANY($1::uuid[])`, ids)
	d.Turns += x.run(`DELETE FROM turns WHERE id = ANY($1::uuid[]) AND {|+}app_id = $2 AND {|+}user_id = $3`,
		ids, x.owner.AppID, x.owner.UserID)
}

// memories deletes memories that are not being pushed, with their relations.
func (x *eraser) memories(now time.Time, limit int) {
	ids := x.unclaimed(now, limit)
	d := &x.some.Deleted
	if len(ids) > 0 {
		d.Relations += x.run(`DELETE FROM memory_relations WHERE from_id = ANY($1::uuid[])`, ids)
		d.Relations += x.run(`DELETE FROM memory_relations WHERE to_id = ANY($1::uuid[])`, ids)
		if x.err == nil {
			d.Memories, x.err = x.deleteMemories(x.ctx, x.owner, ids)
		}
	}
	x.some.Memories = ids
	x.countLeft(len(ids), limit)
}

// unclaimed locks and returns memories that are not being pushed.
func (x *eraser) unclaimed(now time.Time, limit int) []string {
	return x.ids(`SELECT id FROM agent_memories WHERE app_id = $1 AND user_id = $2
		AND (vector_claimed_until IS NULL OR vector_claimed_until <= $3) ORDER BY created_at, id LIMIT $4 {FOR UPDATE|}`,
		x.owner.AppID, x.owner.UserID, now, limit)
}

// countLeft counts the memories that are left, if a step took fewer than it may.
func (x *eraser) countLeft(taken, limit int) {
	if taken < limit && x.err == nil {
		x.some.Left, _, x.err = first(x.ctx, x.conn, only[int],
			`SELECT count(*) FROM agent_memories WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	}
}

// rest deletes everything else of the owner, except for jobs of the kind keep.
func (x *eraser) rest(limit int, keep string) {
	d := &x.some.Deleted
	d.Consolidations += x.rows("consolidation_jobs", `id`, limit)
	d.Conversations += x.ofOwner(limit, `DELETE FROM conversations WHERE app_id = $1 AND user_id = $2 AND id IN (
		SELECT c.id FROM conversations AS c WHERE c.app_id = $1 AND c.user_id = $2 AND NOT EXISTS (
			SELECT 1 FROM consolidation_jobs WHERE app_id = c.app_id AND user_id = c.user_id AND conversation_id = c.id)
		LIMIT $3)`)
	d.Events += x.rows("memory_events", `id`, limit)
	d.Facts += x.rows("facts", `id`, limit)
	d.Instructions += x.ofOwner(limit, `DELETE FROM instruction_versions
		WHERE app_id = $1 AND scope = 'user' AND holder = $2 AND (name, version) IN (
			SELECT name, version FROM instruction_versions WHERE app_id = $1 AND scope = 'user' AND holder = $2 LIMIT $3)`)
	x.run(`DELETE FROM instructions WHERE app_id = $1 AND scope = 'user' AND holder = $2 AND NOT EXISTS (
		SELECT 1 FROM instruction_versions AS v
		WHERE v.app_id = $1 AND v.scope = 'user' AND v.holder = $2 AND v.name = instructions.name)`,
		x.owner.AppID, x.owner.UserID)
	d.Skills += x.rows("skills", `id`, limit)
	d.Outcomes += x.ofOwner(limit, `DELETE FROM skill_outcomes WHERE app_id = $1 AND user_id = $2 AND id IN (
		SELECT id FROM skill_outcomes WHERE app_id = $1 AND user_id = $2 LIMIT $3)`)
	d.Files += x.rows("memory_files", `id`, limit)
	d.FileVersions += x.rows("memory_file_versions", `id`, limit)
	d.Documents += x.rows("documents", `id`, limit)
	d.Announcements += x.rows("announcements", `{xact, |}seq`, limit)
	d.Recalls += x.rows("recalls", `id`, limit)
	d.Jobs += x.jobs(`id IN (SELECT id FROM river_job WHERE `+aboutOwner+` AND kind <> $3 LIMIT $4)`,
		x.owner.AppID, x.owner.UserID, keep, limit)
	x.run(`DELETE FROM user_states WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM indexes WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM active_days WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM user_zones WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM user_modes WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM message_ids WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM participants WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM proposed_insights WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM episodes WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM episode_states WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM filled_profiles WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.run(`DELETE FROM reprocessings WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
	x.rows("reprocessed_turns", `reprocessing_id, user_id, said_at, turn_id`, limit)
	x.run(`DELETE FROM feedback WHERE app_id = $1 AND user_id = $2`, x.owner.AppID, x.owner.UserID)
}
