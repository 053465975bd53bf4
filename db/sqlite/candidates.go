package sqlite

import (
	"context"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const candidateColumns = `c.id, c.turn_id, c.content, c.importance, c.domain, c.type, c.verdict, c.reason, c.scorer,
	coalesce(c.memory_id, ''), c.created_at`

// candidateFields are the destinations of candidateColumns.
func candidateFields(c *memory.Candidate) []any {
	return []any{&c.ID, &c.TurnID, &c.Content, &c.Importance, &c.Domain, &c.Type, &c.Verdict, &c.Reason, &c.Scorer,
		&c.MemoryID, (*instant)(&c.CreatedAt)}
}

// TurnCandidates lists what the scorer proposed from a turn, oldest first.
func (s *Store) TurnCandidates(ctx context.Context, appID, turnID string) ([]memory.Candidate, error) {
	candidates, err := collect(ctx, s.reader, candidateFields, `SELECT `+candidateColumns+` FROM candidates AS c
		WHERE turn_id = ? AND +app_id = ? ORDER BY created_at, id`, turnID, appID)
	return candidates, fault(err, "list the candidates of the turn")
}

// ListCandidates pages through candidates, newest first.
func (s *Store) ListCandidates(ctx context.Context, f db.CandidateFilter) ([]db.Proposal, error) {
	var where conditions
	where.add(`c.app_id = ?`, f.AppID)
	if f.UserID != "" {
		where.add(`c.user_id = ?`, f.UserID)
	}
	switch {
	case f.Verdict != "" && f.UserID != "": // the user's index is the more selective one
		where.add(`+c.verdict = ?`, f.Verdict)
	case f.Verdict != "":
		where.add(`c.verdict = ?`, f.Verdict)
	}
	if f.MinImportance != 0 {
		where.add(`c.importance >= ?`, f.MinImportance)
	}
	if p := f.Before; p != nil {
		where.add(`(c.created_at, c.id) < (?, ?)`, moment(p.At), p.ID)
	}
	found, err := s.proposals(ctx, where.sql()+` ORDER BY c.created_at DESC, c.id DESC LIMIT ?`, append(where.args, f.Limit)...)
	return found, fault(err, "list the candidates")
}

// Proposals returns those of the candidates of the app that exist.
func (s *Store) Proposals(ctx context.Context, appID string, ids []string) ([]db.Proposal, error) {
	found, err := s.proposals(ctx, `c.id IN (SELECT value FROM json_each(?)) AND +c.app_id = ?`, list(ids), appID)
	return found, fault(err, "read the candidates")
}

// proposals joins crosswise so that the candidates are read first: their index has the order.
func (s *Store) proposals(ctx context.Context, where string, args ...any) ([]db.Proposal, error) {
	return collect(ctx, s.reader, func(p *db.Proposal) []any {
		return append(candidateFields(&p.Candidate),
			&p.Owner.AppID, &p.Owner.UserID, &p.AgentID, &p.ConversationID, (*instant)(&p.SaidAt))
	}, `SELECT `+candidateColumns+`, c.app_id, c.user_id, t.agent_id, t.conversation_id, t.said_at
		FROM candidates AS c CROSS JOIN turns AS t ON t.id = c.turn_id WHERE `+where, args...)
}

// SettleCandidate gives a candidate of the owner a new verdict, reason and memory.
func (u *userTx) SettleCandidate(ctx context.Context, c memory.Candidate) error {
	result, err := u.tx.ExecContext(ctx, `UPDATE candidates SET verdict = ?, reason = ?, memory_id = nullif(?, '')
		WHERE id = ? AND +app_id = ? AND +user_id = ?`,
		c.Verdict, rowcodec.Storable(c.Reason), c.MemoryID, c.ID, u.Owner.AppID, u.Owner.UserID)
	if err == nil && affected(result) == 0 {
		return notFound("candidate", c.ID)
	}
	return fault(err, "settle the candidate")
}
