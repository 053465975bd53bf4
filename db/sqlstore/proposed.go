package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const selectProposed = `SELECT p.app_id, p.user_id, p.id, p.agent_id, p.content, p.domain, p.importance, p.sources,
	nullif(p.retires, {ARRAY[]::uuid[]|'[]'}), p.proposed_at, p.instruction, p.grounds, p.basis, p.decided
	FROM proposed_insights AS p WHERE `

func proposedFields(p *db.ProposedInsight) []any {
	return []any{&p.Owner.AppID, &p.Owner.UserID, &p.ID, &p.AgentID, &p.Content, &p.Domain, &p.Importance, &p.Sources,
		&p.Retires, &p.ProposedAt, &p.Instruction, (*jsonArray[memory.Ground])(&p.Grounds), &p.Basis, &p.Decided}
}

// open is the condition under which a row of proposed_insights p stands and is not decided.
const open = `NOT p.decided AND ` + stands

// stands is the condition under which a row of proposed_insights p stands.
const stands = `NOT EXISTS (SELECT 1 FROM {unnest(p.sources) AS s (value)|json_each(p.sources) AS s}
	LEFT JOIN agent_memories AS m ON m.id = s.value AND {|+}m.app_id = p.app_id AND {|+}m.user_id = p.user_id
	WHERE m.id IS NULL OR m.status <> 'active' AND (p.instruction = '' OR m.status <> 'consolidated'))`

func (s *Store) ListProposedInsights(ctx context.Context, f db.ProposedFilter) ([]db.ProposedInsight, error) {
	var where Conditions
	where.Add(`p.app_id = ?`, f.AppID)
	if f.UserID != "" {
		where.Add(`p.user_id = ?`, f.UserID)
	}
	if f.Before != "" {
		where.Add(`p.id < ?`, f.Before)
	}
	if f.All {
		where.Add(`p.instruction <> ''`)
	} else {
		where.Add(open)
	}
	found, err := page(ctx, s.conn, proposedFields, selectProposed, where, `p.id DESC`, f.Limit)
	return found, s.fault(err, "list the proposed insights")
}

func (s *Store) ProposedInsight(ctx context.Context, appID, id string) (p db.ProposedInsight, err error) {
	found := false
	if memory.IsID(id) {
		const query = selectProposed + `p.app_id = $1 AND p.id = $2 AND ` + open
		p, found, err = first(ctx, s.conn, proposedFields, query, appID, id)
	}
	return p, s.require(found, err, "read the proposed insight", noProposedInsight(id))
}

func noProposedInsight(id string) error {
	return memory.Errorf(memory.KindNotFound, "there is no proposed insight %s: it was decided, or a fact that it rests "+
		"on is not active any more; see GET /v1/proposals", rowcodec.Storable(id))
}

func (u *UserTx) ProposeInsights(ctx context.Context, insights []db.ProposedInsight) error {
	rows := make([][]any, len(insights))
	for i, p := range insights {
		rows[i] = []any{u.Owner.AppID, u.Owner.UserID, p.ID, p.AgentID, rowcodec.Storable(p.Content), p.Domain,
			p.Importance, append([]string{}, p.Sources...), p.Retires, p.ProposedAt, p.Instruction, arrayJSON(p.Grounds),
			p.Basis, p.Decided}
	}
	_, err := u.execAll(ctx, `INSERT INTO proposed_insights
		(app_id, user_id, id, agent_id, content, domain, importance, sources, retires, proposed_at, instruction, grounds,
			basis, decided)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, {coalesce($9::uuid[], ARRAY[]::uuid[])|coalesce($9, '[]')}, $10, $11, $12,
			$13, $14)`, rows)
	if err == nil {
		_, err = u.exec(ctx, `DELETE FROM proposed_insights AS p WHERE p.app_id = $1 AND p.user_id = $2
			AND (NOT `+stands+` OR p.id NOT IN (SELECT id FROM proposed_insights
				WHERE app_id = $1 AND user_id = $2 ORDER BY id DESC LIMIT $3))`,
			u.Owner.AppID, u.Owner.UserID, db.MaxProposedInsights)
	}
	return u.fault(err, "store the proposed insights")
}

func (u *UserTx) DecideInsight(ctx context.Context, id string) error {
	return decideInsight(ctx, u.conn, u.Owner, id)
}

func (x *scopeTx) DecideInsight(ctx context.Context, id string) error {
	return decideInsight(ctx, x.conn, x.scope.Owner(), id)
}

func decideInsight(ctx context.Context, c conn, owner memory.Owner, id string) (err error) {
	n := 0
	if memory.IsID(id) {
		const which = ` WHERE p.app_id = $1 AND p.user_id = $2 AND p.id = $3 AND ` + open
		n, err = c.exec(ctx, `UPDATE proposed_insights AS p SET decided = true`+which+` AND p.instruction <> ''`,
			owner.AppID, owner.UserID, id)
		if err == nil && n == 0 {
			n, err = c.exec(ctx, `DELETE FROM proposed_insights AS p`+which, owner.AppID, owner.UserID, id)
		}
	}
	return c.require(n == 1, err, "decide about the proposed insight", noProposedInsight(id))
}
