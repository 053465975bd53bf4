package sqlstore

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const candidateColumns = `c.id, c.turn_id, c.content, c.importance, c.domain, c.type, c.verdict, c.reason, c.scorer,
	c.memory_id, c.created_at, c.expires_at, nullif(c.tags, {ARRAY[]::text[]|'[]'})`

func candidateFields(c *memory.Candidate) []any {
	return []any{&c.ID, &c.TurnID, &c.Content, &c.Importance, &c.Domain, &c.Type, &c.Verdict, &c.Reason, &c.Scorer,
		(*ID)(&c.MemoryID), &c.CreatedAt, &c.ExpiresAt, &c.Tags}
}

// SQLite must read the candidates before the turns: their index has the order.
const selectProposals = `SELECT ` + candidateColumns + `, c.app_id, c.user_id, t.agent_id, t.conversation_id, t.said_at
	FROM candidates AS c {|CROSS }JOIN turns AS t ON t.id = c.turn_id WHERE `

func proposalFields(p *db.Proposal) []any {
	return append(candidateFields(&p.Candidate), &p.Owner.AppID, &p.Owner.UserID, &p.AgentID, &p.ConversationID, &p.SaidAt)
}

func (s *Store) TurnCandidates(ctx context.Context, appID, turnID string) ([]memory.Candidate, error) {
	if !memory.IsID(turnID) {
		return nil, nil
	}
	found, err := collect(ctx, s.conn, candidateFields, `SELECT `+candidateColumns+` FROM candidates AS c
		WHERE turn_id = $1 AND {|+}app_id = $2 ORDER BY created_at, id`, turnID, appID)
	return found, s.fault(err, "list the candidates of the turn")
}

func (u *UserTx) AddCandidates(ctx context.Context, candidates []memory.Candidate) error {
	return u.fault(u.addCandidates(ctx, u.Owner, candidates...), "store the candidates")
}

func (u *UserTx) RemoveCandidates(ctx context.Context, turnID, scorer string) error {
	if !memory.IsID(turnID) {
		return nil
	}
	_, err := u.exec(ctx, `DELETE FROM candidates WHERE turn_id = $3 AND {|+}app_id = $1 AND {|+}user_id = $2
		AND {|+}scorer = $4`, u.Owner.AppID, u.Owner.UserID, turnID, scorer)
	return u.fault(err, "remove candidates")
}

func (c conn) addCandidates(ctx context.Context, owner memory.Owner, candidates ...memory.Candidate) error {
	rows := make([][]any, len(candidates))
	for i, x := range candidates {
		rows[i] = []any{owner.AppID, owner.UserID, x.ID, x.TurnID, rowcodec.Storable(x.Content), x.Importance, x.Domain,
			x.Type, x.Verdict, rowcodec.Storable(x.Reason), x.Scorer, nullID(x.MemoryID), x.CreatedAt,
			null(x.ExpiresAt), x.Tags}
	}
	n, err := c.execAll(ctx, `
		INSERT INTO candidates (app_id, user_id, id, turn_id, content, importance, domain, type, verdict, reason, scorer,
			memory_id, created_at, expires_at, tags)
		SELECT app_id, user_id, $3::uuid, id, $5::text, $6::float8, $7::text, $8::text, $9::text, $10::text, $11::text,
			$12::uuid, $13::timestamptz, $14::timestamptz, $15::text[]
		FROM turns WHERE id = $4 AND {|+}app_id = $1 AND {|+}user_id = $2`, rows)
	if err == nil && n < len(candidates) {
		return memory.Errorf(memory.KindNotFound, "a candidate is from a turn that the user does not have")
	}
	return err
}

func (s *Store) ListCandidates(ctx context.Context, f db.CandidateFilter) ([]db.Proposal, error) {
	var where Conditions
	where.Add(`c.app_id = ?`, f.AppID)
	if f.UserID != "" {
		where.Add(`c.user_id = ?`, f.UserID)
	}
	switch {
	case f.Verdict != "" && f.UserID != "": // the user's index is the more selective one
		where.Add(`{|+}c.verdict = ?`, f.Verdict)
	case f.Verdict != "":
		where.Add(`c.verdict = ?`, f.Verdict)
	}
	if f.MinImportance != 0 {
		where.Add(`c.importance >= ?`, f.MinImportance)
	}
	if f.MaxImportance != 0 {
		where.Add(`c.importance < ?`, f.MaxImportance)
	}
	if p := f.Before; p != nil {
		where.Add(`(c.created_at, c.id) < (?, ?)`, p.At, p.ID)
	}
	found, err := page(ctx, s.conn, proposalFields, selectProposals, where, `c.created_at DESC, c.id DESC`, f.Limit)
	return found, s.fault(err, "list the candidates")
}

// CountCandidates adds a millionth before it rounds down, since 0.29*100 is less than 29.
func (s *Store) CountCandidates(ctx context.Context, owner memory.Owner) ([]db.CandidateCount, error) {
	found, err := collect(ctx, s.conn, func(c *db.CandidateCount) []any {
		return []any{&c.Importance, &c.Verdict, &c.Count}
	}, `SELECT {floor(importance * 100 + 1e-6)|CAST(importance * 100 + 1e-6 AS INTEGER)} / 100.0, verdict, count(*)
		FROM candidates WHERE app_id = $1 AND user_id = $2 GROUP BY 1, 2 ORDER BY 1, 2`, owner.AppID, owner.UserID)
	return found, s.fault(err, "count the candidates of the user")
}

func (s *Store) Proposals(ctx context.Context, appID string, ids []string) ([]db.Proposal, error) {
	found, err := collect(ctx, s.conn, proposalFields, selectProposals+`c.id = ANY($2::uuid[]) AND {|+}c.app_id = $1`,
		appID, validIDs(ids))
	return found, s.fault(err, "read the candidates")
}

func (u *UserTx) SettleCandidate(ctx context.Context, c memory.Candidate) error {
	if !memory.IsID(c.ID) {
		return NotFound("candidate", c.ID)
	}
	n, err := u.exec(ctx, `UPDATE candidates SET verdict = $4, reason = $5, memory_id = $6
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3`,
		c.ID, u.Owner.AppID, u.Owner.UserID, c.Verdict, rowcodec.Storable(c.Reason), nullID(c.MemoryID))
	return u.require(n > 0, err, "settle the candidate", NotFound("candidate", c.ID))
}
