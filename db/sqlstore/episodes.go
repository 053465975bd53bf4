package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const selectEpisodes = `SELECT e.app_id, e.user_id, e.id, e.agent_id, e.theme_id, e.began, e.ended, e.basis, e.label
	FROM episodes AS e WHERE `

func episodeFields(e *db.Episode) []any {
	return []any{&e.Owner.AppID, &e.Owner.UserID, &e.ID, &e.AgentID, (*ID)(&e.Theme), &e.Began, &e.Ended, &e.Basis,
		&e.Label}
}

// currentMember is the condition under which a row of agent_memories m is a current member.
const currentMember = `{|+}m.status = 'active' AND NOT ({|+}m.memory_type = 'message' AND EXISTS (
		SELECT 1 FROM memory_relations AS r JOIN agent_memories AS f ON f.id = r.from_id
			AND {|+}f.app_id = m.app_id AND {|+}f.user_id = m.user_id
		WHERE r.to_id = m.id AND r.kind = 'derived_from' AND {|+}f.status = 'superseded'))`

// hasMember is the condition under which a row of episodes e has a current member.
const hasMember = `EXISTS (SELECT 1 FROM episode_memories AS o JOIN agent_memories AS m ON m.id = o.memory_id
		AND {|+}m.app_id = o.app_id AND {|+}m.user_id = o.user_id
	WHERE o.app_id = e.app_id AND o.user_id = e.user_id AND o.episode_id = e.id AND ` + currentMember + `)`

func (s *Store) ListEpisodes(ctx context.Context, f db.EpisodeFilter) ([]db.Episode, error) {
	var where Conditions
	where.Add(`e.app_id = ?`, f.Owner.AppID)
	where.Add(`e.user_id = ?`, f.Owner.UserID)
	if f.SeenBy != "" {
		where.Add(`{|+}e.agent_id IN ('', ?)`, f.SeenBy)
	}
	if !f.Since.IsZero() {
		where.Add(`e.ended >= ?`, f.Since)
	}
	if !f.Until.IsZero() {
		where.Add(`e.began < ?`, f.Until)
	}
	if f.Theme != "" {
		where.Add(`e.theme_id = ?`, f.Theme)
	}
	if f.IDs != nil {
		where.Add(`e.id = ANY(?::uuid[])`, f.IDs)
	}
	if f.Before != nil {
		where.Add(`(e.ended, e.id) < (?, ?)`, f.Before.At, f.Before.ID)
	}
	where.Add(hasMember)
	found, err := page(ctx, s.conn, episodeFields, selectEpisodes, where, `e.ended DESC, e.id DESC`, f.Limit)
	return found, s.fault(err, "list the episodes")
}

func (s *Store) AllEpisodes(ctx context.Context, owner memory.Owner) ([]db.Episode, error) {
	found, err := collect(ctx, s.conn, episodeFields, selectEpisodes+`e.app_id = $1 AND e.user_id = $2 ORDER BY e.id`,
		owner.AppID, owner.UserID)
	return found, s.fault(err, "read all episodes")
}

func memberFields(m *db.EpisodeMember) []any { return append(memoryFields(&m.Memory), &m.EpisodeID) }

func (s *Store) EpisodeMembers(ctx context.Context, owner memory.Owner, ids []string) ([]db.EpisodeMember, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := collect(ctx, s.conn, memberFields, `SELECT `+memoryColumns+`, (SELECT i.episode_id
			FROM episode_memories AS i WHERE i.app_id = $1 AND i.user_id = $2 AND i.memory_id = m.id)
		FROM agent_memories AS m WHERE m.id IN (SELECT memory_id FROM episode_memories
			WHERE app_id = $1 AND user_id = $2 AND episode_id = ANY($3::uuid[]))
		AND {|+}m.app_id = $1 AND {|+}m.user_id = $2 AND `+currentMember+` ORDER BY created_at, id`,
		owner.AppID, owner.UserID, ids)
	return found, s.fault(err, "read the memories of episodes")
}

func (s *Store) EpisodesOf(ctx context.Context, owner memory.Owner, memories []string) (map[string]string, error) {
	of := map[string]string{}
	var id, episode string
	err := s.each(ctx, []any{&id, &episode}, func() error { of[id] = episode; return nil },
		`SELECT memory_id, episode_id FROM episode_memories
		WHERE app_id = $1 AND user_id = $2 AND memory_id = ANY($3::uuid[])`, owner.AppID, owner.UserID, memories)
	return of, s.fault(err, "read which episodes memories are in")
}

func (s *Store) EpisodeState(ctx context.Context, owner memory.Owner) (db.EpisodeState, error) {
	state, _, err := first(ctx, s.conn, func(e *db.EpisodeState) []any { return []any{&e.Made, &e.Current} },
		`SELECT coalesce((SELECT revision FROM episode_states WHERE app_id = $1 AND user_id = $2), 0),
			coalesce((SELECT revision FROM revisions WHERE owner_hash = $3), 1)`,
		owner.AppID, owner.UserID, rowcodec.OwnerHash(owner))
	return state, s.fault(err, "read what the episodes were made of")
}

func (u *UserTx) ChangeEpisodes(ctx context.Context, gone []string, changed []db.Episode, revision int64) error {
	gone = append([]string{}, gone...)
	rows, members := make([][]any, len(changed)), [][]any{}
	for i, e := range changed {
		gone = append(gone, e.ID)
		rows[i] = []any{u.Owner.AppID, u.Owner.UserID, e.ID, e.AgentID, nullID(e.Theme), e.Began, e.Ended, e.Basis, e.Label}
		for _, id := range e.Members {
			members = append(members, []any{u.Owner.AppID, u.Owner.UserID, id, e.ID})
		}
	}
	_, err := u.exec(ctx, `DELETE FROM episodes WHERE app_id = $1 AND user_id = $2 AND id = ANY($3::uuid[])`,
		u.Owner.AppID, u.Owner.UserID, gone)
	if err == nil {
		_, err = u.execAll(ctx, `INSERT INTO episodes
			(app_id, user_id, id, agent_id, theme_id, began, ended, basis, label)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, rows)
	}
	if err == nil {
		_, err = u.execAll(ctx, `INSERT INTO episode_memories (app_id, user_id, memory_id, episode_id)
			SELECT $1, $2, m.id, $4::uuid FROM agent_memories AS m
			WHERE m.id = $3 AND {|+}m.app_id = $1 AND {|+}m.user_id = $2
			ON CONFLICT (app_id, user_id, memory_id) DO UPDATE SET episode_id = excluded.episode_id`, members)
	}
	if err == nil {
		_, err = u.exec(ctx, `INSERT INTO episode_states (app_id, user_id, revision) VALUES ($1, $2, $3)
			ON CONFLICT (app_id, user_id) DO UPDATE SET revision = excluded.revision`, u.Owner.AppID, u.Owner.UserID, revision)
	}
	return u.fault(err, "store the episodes")
}

func (u *UserTx) LabelEpisode(ctx context.Context, e db.Episode) error {
	_, err := u.exec(ctx, `UPDATE episodes SET label = $5 WHERE app_id = $1 AND user_id = $2 AND id = $3 AND basis = $4`,
		u.Owner.AppID, u.Owner.UserID, e.ID, e.Basis, e.Label)
	return u.fault(err, "name the episode")
}

// deleteEpisodes deletes the episodes of memories, and those of the same themes.
func (c conn) deleteEpisodes(ctx context.Context, owner memory.Owner, memories []string) error {
	type place struct{ episode, theme string }
	found, err := collect(ctx, c, func(p *place) []any { return []any{&p.episode, (*ID)(&p.theme)} },
		`SELECT e.id, e.theme_id FROM episodes AS e WHERE e.app_id = $1 AND e.user_id = $2 AND e.id IN (
			SELECT episode_id FROM episode_memories WHERE app_id = $1 AND user_id = $2 AND memory_id = ANY($3::uuid[]))`,
		owner.AppID, owner.UserID, memories)
	if err != nil || len(found) == 0 {
		return err
	}
	episodes, themes := make([]string, len(found)), []string{}
	for i, p := range found {
		episodes[i] = p.episode
		if p.theme != "" {
			themes = append(themes, p.theme)
		}
	}
	if _, err = c.exec(ctx, `DELETE FROM episodes WHERE app_id = $1 AND user_id = $2 AND id = ANY($3::uuid[])`,
		owner.AppID, owner.UserID, episodes); err != nil {
		return err
	}
	_, err = c.exec(ctx, `DELETE FROM episodes WHERE app_id = $1 AND user_id = $2 AND theme_id = ANY($3::uuid[])`,
		owner.AppID, owner.UserID, themes)
	return err
}
