package sqlstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

func (s *Store) BeginMerge(
	ctx context.Context, m db.Merge, at, due time.Time, job db.Job,
) (e db.Erasure, err error) {
	err = s.transact(ctx, func(tx tx) error {
		if err := tx.lockBoth(ctx, m.From, m.Into); err != nil {
			return err
		}
		into := rowcodec.OwnerHash(m.Into)
		var ok bool
		if e, ok, err = erasure(ctx, tx.conn, m.From, ""); err != nil {
			return err
		}
		same := ok && e.Into == hex.EncodeToString(into)
		if ok && e.DoneAt.IsZero() {
			if !same {
				return db.ErrErasing
			}
			return tx.enqueueDue(ctx, job, due)
		}
		holds, err := tx.holdsRows(ctx, m.From)
		if err != nil || same && !holds {
			return err
		}
		if err := s.admitMerge(ctx, tx, m); err != nil {
			return err
		}
		e = db.Erasure{Owner: m.From, Round: e.Round + 1, RequestedAt: memory.Instant(at), Into: hex.EncodeToString(into)}
		if err := tx.mark(ctx, e, into); err != nil {
			return err
		}
		return tx.enqueueDue(ctx, job, due)
	})
	return e, s.fault(err, "mark the user as being merged")
}

// lockBoth excludes all writers of two owners. Every transaction takes the locks in this order: no two wait for each
// other.
func (t tx) lockBoth(ctx context.Context, a, b memory.Owner) error {
	alone := []int64{rowcodec.OwnerLock(a), rowcodec.OwnerLock(b)}
	turns := []int64{rowcodec.TurnsLock(a), rowcodec.TurnsLock(b)}
	slices.Sort(alone)
	slices.Sort(turns)
	for _, key := range append(alone, turns...) {
		if err := t.lock(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// receives reports whether rows of another user are being moved to the owner.
func (t tx) receives(ctx context.Context, owner memory.Owner) (bool, error) {
	receives, _, err := first(ctx, t.conn, only[bool], `SELECT EXISTS (SELECT 1 FROM erasures
		WHERE into_hash = $1 AND state = 'erasing' AND into_hash IS NOT NULL)`, rowcodec.OwnerHash(owner))
	return receives, err
}

// admitMerge refuses a merge with a user who is being erased or merged.
func (s *Store) admitMerge(ctx context.Context, tx tx, m db.Merge) error {
	receives, err := tx.receives(ctx, m.From)
	if err != nil {
		return err
	}
	if receives {
		return db.ErrErasing
	}
	into, ok, err := erasure(ctx, tx.conn, m.Into, "")
	if err != nil {
		return err
	}
	if ok && into.DoneAt.IsZero() {
		return db.ErrErasing
	}
	if !m.New {
		return nil
	}
	holds, err := tx.holdsRows(ctx, m.Into)
	if err == nil && holds {
		err = memory.Errorf(memory.KindConflict,
			"user %q exists already: choose another id, or merge the two users", m.Into.UserID)
	}
	return err
}

func (s *Store) MoveSome(
	ctx context.Context, e db.Erasure, into memory.Owner, step db.EraseStep,
) (some db.ErasedSome, err error) {
	err = s.transact(ctx, func(tx tx) error {
		if err := tx.lockBoth(ctx, into, into); err != nil {
			return err
		}
		current, err := underWay(ctx, tx, e)
		if err != nil {
			return err
		}
		hash := rowcodec.OwnerHash(into)
		if stored, _ := hex.DecodeString(current.Into); !bytes.Equal(stored, hash) {
			return db.ErrErased
		}
		m := &mover{eraser: eraser{ctx: ctx, conn: tx.conn, owner: e.Owner}, into: into, now: memory.Instant(step.Now)}
		m.change, _, m.err = first(ctx, tx.conn, only[int64], `SELECT `+NextChange+`$1)`, hash)
		m.run(`{SELECT set_config('hippocampus.moving', 'on', true)|PRAGMA defer_foreign_keys = ON}`)
		m.conversations(max(step.Limit/10, 1))
		if m.some.Deleted.Conversations == 0 {
			m.turns(step.Limit)
			m.memories(step.Limit)
			m.knowledge(step.Limit)
			m.rest(step.Limit, step.Keep)
		}
		m.run(Revise, hash, m.change)
		some = m.some
		sum := current.Deleted.Plus(some.Deleted)
		sum.Vectors += step.Vectors
		m.count(sum)
		return m.err
	})
	if err != nil {
		return db.ErasedSome{}, s.fault(err, "move what the user has")
	}
	return some, nil
}

// mover moves rows within one step; its first error ends it.
type mover struct {
	eraser
	into   memory.Owner
	now    time.Time
	change int64 // of the memories of into
}

// from runs a statement with the app, the user whose rows move, the user to whom they move, and more parameters.
func (m *mover) from(query string, args ...any) int {
	return m.run(query, append([]any{m.owner.AppID, m.owner.UserID, m.into.UserID}, args...)...)
}

// rows moves rows of a table with a primary key.
func (m *mover) rows(table, key string, limit int) int {
	return m.from(`UPDATE `+table+` SET user_id = $3 WHERE {app_id = $1 AND user_id = $2 AND |}(`+key+`) IN (
		SELECT `+key+` FROM `+table+` WHERE app_id = $1 AND user_id = $2 LIMIT $4)`, limit)
}

// conversations moves conversations with their turns. One whose id the other user has gets a new id.
func (m *mover) conversations(limit int) {
	type conversation struct {
		id, began string
		taken     bool
	}
	var found []conversation
	if m.err == nil {
		found, m.err = collect(m.ctx, m.conn, func(c *conversation) []any { return []any{&c.id, &c.began, &c.taken} },
			`SELECT c.id, c.began, EXISTS (SELECT 1 FROM conversations AS i
				WHERE i.app_id = $1 AND i.user_id = $3 AND i.id = c.id)
			FROM conversations AS c WHERE c.app_id = $1 AND c.user_id = $2 ORDER BY c.id LIMIT $4`,
			m.owner.AppID, m.owner.UserID, m.into.UserID, limit)
	}
	for _, c := range found {
		id := c.id
		if c.taken {
			id = besides(c.id, c.began)
			for _, table := range []string{"turns", "agent_memories", "user_modes"} {
				m.run(`UPDATE `+table+` SET conversation_id = $4 WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3`,
					m.owner.AppID, m.owner.UserID, c.id, id)
			}
		}
		m.turnsWith(m.ids(`SELECT id FROM turns{| INDEXED BY turns_of_conversation}
			WHERE app_id = $1 AND user_id = $2 AND conversation_id = $3 AND last_event > 0`,
			m.owner.AppID, m.owner.UserID, id))
		m.from(`UPDATE message_ids SET user_id = $3, conversation_id = $5
			WHERE app_id = $1 AND user_id = $2 AND conversation_id = $4`, c.id, id)
		const jobs = `UPDATE consolidation_jobs SET user_id = $3, conversation_id = $5
			WHERE app_id = $1 AND user_id = $2 AND conversation_id = $4`
		const itself = `UPDATE conversations SET user_id = $3, id = $5 WHERE app_id = $1 AND user_id = $2 AND id = $4`
		d := &m.some.Deleted
		if m.dialect == Postgres { // at the end of each statement, the jobs must have their conversation
			d.Consolidations += m.counted(`WITH jobs AS (`+jobs+` RETURNING 1), itself AS (`+itself+`)
				SELECT count(*) FROM jobs`, c.id, id)
		} else {
			d.Consolidations += m.from(jobs, c.id, id)
			m.from(itself, c.id, id)
		}
		m.modes(`conversation_id = $4`, id)
		d.Conversations++
	}
}

// modes moves how much of memory is on, where a condition on user_modes holds. Of two modes the stricter one stays.
func (m *mover) modes(where string, args ...any) {
	const both = `EXISTS (SELECT 1 FROM user_modes AS i WHERE i.app_id = $1 AND i.user_id = `
	const same = ` AND i.conversation_id = user_modes.conversation_id`
	m.from(`UPDATE user_modes SET mode = 'off' WHERE app_id = $1 AND user_id = $3 AND `+where+`
		AND `+both+`$2`+same+` AND i.mode = 'off')`, args...)
	m.from(`UPDATE user_modes SET user_id = $3 WHERE app_id = $1 AND user_id = $2 AND `+where+`
		AND NOT `+both+`$3`+same+`)`, args...)
	m.from(`DELETE FROM user_modes WHERE app_id = $1 AND user_id = $2 AND $3 <> '' AND `+where, args...)
}

// counted runs a statement that returns a number.
func (m *mover) counted(query string, args ...any) (n int) {
	if m.err == nil {
		n, _, m.err = first(m.ctx, m.conn, only[int], query,
			append([]any{m.owner.AppID, m.owner.UserID, m.into.UserID}, args...)...)
	}
	return n
}

// turns moves turns without a conversation.
func (m *mover) turns(limit int) {
	m.turnsWith(m.ids(`SELECT id FROM turns WHERE app_id = $1 AND user_id = $2 ORDER BY accepted_at, id
		LIMIT $3 {FOR UPDATE|}`, m.owner.AppID, m.owner.UserID, limit))
}

// turnsWith moves turns with their candidates. Jobs about them name the turns alone.
func (m *mover) turnsWith(ids []string) {
	if len(ids) == 0 {
		return
	}
	const candidates = `UPDATE candidates SET user_id = $3 WHERE turn_id = ANY($4::uuid[])
		AND {|+}app_id = $1 AND {|+}user_id = $2`
	const turns = `UPDATE turns SET user_id = $3 WHERE id = ANY($4::uuid[]) AND {|+}app_id = $1 AND {|+}user_id = $2`
	d := &m.some.Deleted
	if m.dialect == Postgres { // of partitions, candidates have a foreign key that names the owner
		d.Candidates += m.counted(`WITH candidates AS (`+candidates+` RETURNING 1), turns AS (`+turns+`)
			SELECT count(*) FROM candidates`, ids)
	} else {
		d.Candidates += m.from(candidates, ids)
		m.from(turns, ids)
	}
	d.Turns += len(ids)
}

// memories moves memories that are not being pushed, and has their vectors replaced.
func (m *mover) memories(limit int) {
	ids := m.unclaimed(m.now, limit)
	m.some.Memories = ids
	if len(ids) > 0 {
		if m.dialect == Postgres {
			m.from(`UPDATE embeddings SET user_id = $3
				WHERE memory_id = ANY($4::uuid[]) AND app_id = $1 AND user_id = $2`, ids)
		}
		// A push whose claim has ended may still arrive: another claim counts, so that the memory is pushed after it.
		m.some.Deleted.Memories = m.from(`UPDATE agent_memories SET user_id = $3, change = $5,
				vector_state = CASE WHEN vector_state = 'synced' THEN 'pending' ELSE vector_state END,
				vector_since = CASE WHEN vector_state IN ('pending', 'removing') THEN vector_since ELSE $6 END,
				vector_due = $6, vector_claimed_until = NULL, vector_claims = vector_claims + 1, vector_again = false
			WHERE id = ANY($4::uuid[]) AND {|+}app_id = $1 AND {|+}user_id = $2`, ids, m.change, m.now)
		m.duplicates(ids)
	}
	m.countLeft(len(ids), limit)
}

// rest moves everything else, except for jobs of the kind keep. Of what each user has once, the receiving user's stays.
func (m *mover) rest(limit int, keep string) {
	d := &m.some.Deleted
	d.Events += m.rows("memory_events", `id`, limit)
	d.FileVersions += m.rows("memory_file_versions", `id`, limit)
	m.documents(limit)
	d.Announcements += m.rows("announcements", `{xact, |}seq`, limit)
	d.Recalls += m.rows("recalls", `id`, limit)
	d.Jobs += m.from(`UPDATE river_job SET unique_key = NULL, unique_states = NULL,
			args = {jsonb_set(args, ARRAY['user_id'], to_jsonb($3::text))|
				CAST(json_set(CAST(args AS TEXT), '$.user_id', $3) AS BLOB)}
		WHERE id IN (SELECT id FROM river_job WHERE `+aboutOwner+` AND kind <> $4 LIMIT $5)`, keep, limit)
	m.from(`DELETE FROM indexes WHERE app_id = $1 AND user_id IN ($2, $3)`)
	m.from(`DELETE FROM episodes WHERE app_id = $1 AND user_id IN ($2, $3)`)
	m.from(`DELETE FROM episode_states WHERE app_id = $1 AND user_id IN ($2, $3)`)
	m.from(`DELETE FROM filled_profiles WHERE app_id = $1 AND user_id IN ($2, $3)`)
	m.from(`UPDATE message_ids SET user_id = $3 WHERE app_id = $1 AND user_id = $2`)
	m.from(`UPDATE pooled SET user_id = $3 WHERE app_id = $1 AND user_id = $2`)
	m.from(`UPDATE proposed_insights SET user_id = $3 WHERE app_id = $1 AND user_id = $2`)
	m.from(`UPDATE reprocessings SET user_id = $3, note = CASE WHEN state = 'running' THEN $4 ELSE note END,
			ended_at = CASE WHEN state = 'running' THEN $5 ELSE ended_at END,
			state = CASE WHEN state = 'running' THEN 'stopped' ELSE state END
		WHERE app_id = $1 AND user_id = $2`, "the user has another id now: begin again", m.now)
	m.rows("reprocessed_turns", `reprocessing_id, user_id, said_at, turn_id`, limit)
	m.from(`UPDATE user_zones SET chosen = (SELECT chosen FROM user_zones WHERE app_id = $1 AND user_id = $2)
		WHERE app_id = $1 AND user_id = $3 AND chosen = ''
			AND EXISTS (SELECT 1 FROM user_zones WHERE app_id = $1 AND user_id = $2)`)
	m.modes(`true`)
	for _, once := range []struct{ table, same string }{
		{"user_zones", `true`}, {"user_states", `true`},
		{"active_days", `i.agent_id = active_days.agent_id AND i.day = active_days.day`},
		{"skill_outcomes", `i.id = skill_outcomes.id`},
		{"feedback", `i.source_id = feedback.source_id AND i.memory_id = feedback.memory_id`},
		{"participants", `i.conversation_id = participants.conversation_id AND i.name = participants.name`},
	} {
		moved := m.from(`UPDATE ` + once.table + ` SET user_id = $3 WHERE app_id = $1 AND user_id = $2
			AND NOT EXISTS (SELECT 1 FROM ` + once.table + ` AS i WHERE i.app_id = $1 AND i.user_id = $3 AND ` + once.same + `)`)
		moved += m.run(`DELETE FROM `+once.table+` WHERE app_id = $1 AND user_id = $2`, m.owner.AppID, m.owner.UserID)
		if once.table == "skill_outcomes" {
			d.Outcomes += moved
		}
	}
}
