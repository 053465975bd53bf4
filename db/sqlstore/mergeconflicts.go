package sqlstore

import (
	"encoding/json"
	"strings"
	"time"

	"hippocampus/internal/memory"
)

const maxNameBytes = 256 // of the id of a conversation

// besides returns a name for what has the same name as something of the other user. id is of the first.
func besides(name, id string) string { return clipped(name, maxNameBytes) + ending(id) }

func ending(id string) string { return "~" + id[len(id)-12:] }

// clipped leaves room for an ending.
func clipped(name string, bytes int) string {
	return strings.ToValidUTF8(name[:min(len(name), bytes-13)], "")
}

// knowledge moves facts, instructions, skills and files, some of which both users may have under one name.
func (m *mover) knowledge(limit int) {
	m.facts(limit)
	m.instructions(limit)
	m.skills(limit)
	m.files(limit)
}

// duplicates has moved memories superseded by those of the receiving user that state the same.
func (m *mover) duplicates(ids []string) {
	if m.err != nil {
		return
	}
	type pair struct{ moved, known string }
	pairs, err := collect(m.ctx, m.conn, func(p *pair) []any { return []any{&p.moved, &p.known} }, `
		SELECT m.id, min(k.id{::text|}) FROM agent_memories AS m
		JOIN agent_memories AS k{| INDEXED BY agent_memories_by_content} ON k.app_id = $1 AND k.user_id = $2
			AND k.agent_id = m.agent_id AND k.content_hash = m.content_hash
			AND k.status = 'active' AND k.memory_type <> 'message' AND NOT (k.id = ANY($3::uuid[]))
		WHERE m.id = ANY($3::uuid[]) AND {|+}m.app_id = $1 AND {|+}m.user_id = $2 AND m.status = 'active'
			AND m.memory_type <> 'message' AND NOT m.pinned GROUP BY m.id`, m.into.AppID, m.into.UserID, ids)
	m.err = err
	for _, p := range pairs {
		m.supersede(p.moved, p.known)
	}
}

// supersede has a memory of either user superseded by another one.
func (m *mover) supersede(id, by string) {
	if id == "" || by == "" || id == by {
		return
	}
	n := m.from(`UPDATE agent_memories SET status = 'superseded', superseded_by = $5, revision = revision + 1,
			updated_at = $6, change = $7, vector_state = 'removing', vector_due = $6,
			vector_since = CASE WHEN vector_state IN ('pending', 'removing') THEN vector_since ELSE $6 END
		WHERE id = $4 AND {|+}app_id = $1 AND {|+}user_id IN ($2, $3) AND {|+}status = 'active'`, id, by, m.now, m.change)
	if n == 0 {
		return
	}
	if m.dialect == Postgres {
		m.from(`UPDATE embeddings SET active = false WHERE memory_id = $4 AND app_id = $1 AND user_id IN ($2, $3)`, id)
	}
	detail, _ := json.Marshal(map[string]any{"change": map[string]any{ // strings only: cannot fail
		"from": map[string]string{"status": string(memory.Active), "superseded_by": ""},
		"to":   map[string]string{"status": string(memory.Superseded), "superseded_by": by},
	}})
	m.run(`INSERT INTO memory_events (id, app_id, user_id, memory_id, kind, cause, detail, at)
		VALUES ($1, $2, $3, $4, 'superseded', 'merged users', $5, $6)`,
		memory.NewID(), m.into.AppID, m.into.UserID, id, json.RawMessage(detail), m.now)
}

// facts moves timelines. If both users have one, the one with the later beginning stays, and the other becomes evidence
// that was replaced.
func (m *mover) facts(limit int) {
	type timeline struct{ factType, key string }
	if m.err != nil {
		return
	}
	found, err := collect(m.ctx, m.conn, func(t *timeline) []any { return []any{&t.factType, &t.key} },
		`SELECT DISTINCT type, key FROM facts WHERE app_id = $1 AND user_id = $2 LIMIT $3`,
		m.owner.AppID, m.owner.UserID, limit)
	m.err = err
	for _, t := range found {
		m.settle(t.factType, t.key)
		m.some.Deleted.Facts += m.from(`UPDATE facts SET user_id = $3
			WHERE app_id = $1 AND user_id = $2 AND type = $4 AND key = $5`, t.factType, t.key)
	}
}

// settle ends the earlier one of two timelines.
func (m *mover) settle(factType, key string) {
	type side struct {
		userID, memoryID string
		began            time.Time
	}
	if m.err != nil {
		return
	}
	sides, err := collect(m.ctx, m.conn, func(s *side) []any { return []any{&s.userID, &s.began, (*ID)(&s.memoryID)} }, `
		SELECT user_id, max(valid_from), max(CASE WHEN told THEN memory_id{::text|} END) FROM facts
		WHERE app_id = $1 AND user_id IN ($2, $3) AND type = $4 AND key = $5 AND state = 'accepted'
		GROUP BY user_id ORDER BY max(valid_from), user_id`,
		m.owner.AppID, m.owner.UserID, m.into.UserID, factType, key)
	m.err = err
	if len(sides) < 2 {
		return
	}
	const ofTimeline = ` WHERE app_id = $1 AND user_id = $2 AND type = $3 AND key = $4 AND state = `
	args := func() []any { return []any{m.owner.AppID, sides[0].userID, factType, key} }
	m.run(`UPDATE facts SET state = 'replaced', told = false, due_at = NULL,
		reason = 'a timeline of a merged user begins later'`+ofTimeline+`'accepted'`, args()...)
	m.run(`DELETE FROM facts`+ofTimeline+`'ended'`, args()...)
	m.supersede(sides[0].memoryID, sides[1].memoryID)
}

// instructions moves the versions of names behind the receiving user's, whose active version stays.
func (m *mover) instructions(limit int) {
	type instruction struct {
		name          string
		latest, known int
	}
	if m.err != nil {
		return
	}
	found, err := collect(m.ctx, m.conn, func(i *instruction) []any { return []any{&i.name, &i.latest, &i.known} }, `
		SELECT f.name, f.latest, coalesce(i.latest, 0) FROM instructions AS f LEFT JOIN instructions AS i
			ON i.app_id = $1 AND i.scope = 'user' AND i.holder = $3 AND i.name = f.name
		WHERE f.app_id = $1 AND f.scope = 'user' AND f.holder = $2 LIMIT $4`,
		m.owner.AppID, m.owner.UserID, m.into.UserID, limit)
	m.err = err
	for _, i := range found {
		m.some.Deleted.Instructions += m.from(`UPDATE instruction_versions SET holder = $3, version = version + $5
			WHERE app_id = $1 AND scope = 'user' AND holder = $2 AND name = $4`, i.name, i.known)
		if i.known == 0 {
			m.from(`UPDATE instructions SET holder = $3
				WHERE app_id = $1 AND scope = 'user' AND holder = $2 AND name = $4`, i.name)
			continue
		}
		m.from(`UPDATE instructions SET latest = latest + $5,
				active = coalesce(active, (SELECT f.active + $6 FROM instructions AS f
					WHERE f.app_id = $1 AND f.scope = 'user' AND f.holder = $2 AND f.name = $4))
			WHERE app_id = $1 AND scope = 'user' AND holder = $3 AND name = $4`, i.name, i.latest, i.known)
		m.run(`DELETE FROM instructions WHERE app_id = $1 AND scope = 'user' AND holder = $2 AND name = $3`,
			m.owner.AppID, m.owner.UserID, i.name)
	}
}

// skills moves workflows. The outcomes of one that both users have are added up.
func (m *mover) skills(limit int) {
	type workflow struct{ id, memoryID, known, knownMemory string }
	if m.err != nil {
		return
	}
	found, err := collect(m.ctx, m.conn, func(w *workflow) []any {
		return []any{&w.id, (*ID)(&w.memoryID), (*ID)(&w.known), (*ID)(&w.knownMemory)}
	}, `SELECT f.id, f.memory_id, i.id, i.memory_id FROM skills AS f LEFT JOIN skills AS i
			ON i.app_id = $1 AND i.user_id = $3 AND i.name = f.name AND i.agent_id = f.agent_id
				AND i.workflow_hash = f.workflow_hash
		WHERE f.app_id = $1 AND f.user_id = $2 LIMIT $4`, m.owner.AppID, m.owner.UserID, m.into.UserID, limit)
	m.err = err
	for _, w := range found {
		m.some.Deleted.Skills++
		if w.known == "" {
			m.run(`UPDATE skills SET user_id = $1 WHERE id = $2`, m.into.UserID, w.id)
			continue
		}
		m.run(`UPDATE skills SET successes = skills.successes + f.successes, failures = skills.failures + f.failures,
				first_at = {least|min}(skills.first_at, f.first_at), last_at = {greatest|max}(skills.last_at, f.last_at),
				notes = CASE WHEN f.last_at > skills.last_at THEN f.notes ELSE skills.notes END
			FROM skills AS f WHERE skills.id = $1 AND f.id = $2`, w.known, w.id)
		m.run(`DELETE FROM skills WHERE id = $1`, w.id)
		m.supersede(w.memoryID, w.knownMemory)
	}
}

const maxPathBytes = 1024

// files moves files with their versions. One whose path the receiving user has gets a new path.
func (m *mover) files(limit int) {
	type file struct {
		id, path string
		taken    bool
	}
	if m.err != nil {
		return
	}
	found, err := collect(m.ctx, m.conn, func(f *file) []any { return []any{&f.id, &f.path, &f.taken} }, `
		SELECT f.id, f.path, EXISTS (SELECT 1 FROM memory_files AS i
			WHERE i.app_id = $1 AND i.user_id = $3 AND i.agent_id = f.agent_id AND i.path = f.path)
		FROM memory_files AS f WHERE f.app_id = $1 AND f.user_id = $2 LIMIT $4`,
		m.owner.AppID, m.owner.UserID, m.into.UserID, limit)
	m.err = err
	for _, f := range found {
		path := f.path
		if f.taken {
			path = clipped(f.path, maxPathBytes) + ending(f.id)
		}
		m.run(`UPDATE memory_files SET user_id = $1, path = $2 WHERE id = $3`, m.into.UserID, path, f.id)
		m.some.Deleted.Files++
		m.some.Deleted.FileVersions += m.run(`UPDATE memory_file_versions SET user_id = $1,
			path = CASE WHEN path = $2 THEN $3 ELSE path END WHERE file_id = $4`, m.into.UserID, f.path, path, f.id)
	}
}

// documents moves documents. What names one that the receiving user has gets an ending, so that both stay.
func (m *mover) documents(limit int) {
	type document struct {
		id, ref string
		taken   bool
	}
	if m.err != nil {
		return
	}
	found, err := collect(m.ctx, m.conn, func(d *document) []any { return []any{&d.id, &d.ref, &d.taken} }, `
		SELECT f.id, f.ref, EXISTS (SELECT 1 FROM documents AS i
			WHERE i.app_id = $1 AND i.user_id = $3 AND i.agent_id = f.agent_id AND i.ref = f.ref)
		FROM documents AS f WHERE f.app_id = $1 AND f.user_id = $2 LIMIT $4`,
		m.owner.AppID, m.owner.UserID, m.into.UserID, limit)
	m.err = err
	for _, d := range found {
		ref := d.ref
		if d.taken {
			ref += ending(d.id)
		}
		m.some.Deleted.Documents += m.run(`UPDATE documents SET user_id = $1, ref = $2 WHERE id = $3`,
			m.into.UserID, ref, d.id)
	}
}
