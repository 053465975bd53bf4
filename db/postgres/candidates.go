package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const candidateColumns = `c.id, c.turn_id, c.content, c.importance, c.domain, c.type, c.verdict, c.reason, c.scorer,
	coalesce(c.memory_id::text, ''), c.created_at`

// candidateFields are the destinations of candidateColumns.
func candidateFields(c *memory.Candidate) []any {
	return []any{&c.ID, &c.TurnID, &c.Content, &c.Importance, &c.Domain, &c.Type, &c.Verdict, &c.Reason, &c.Scorer,
		&c.MemoryID, &c.CreatedAt}
}

// TurnCandidates lists what the scorer proposed from a turn, oldest first.
func (s *Store) TurnCandidates(ctx context.Context, appID, turnID string) ([]memory.Candidate, error) {
	if !memory.IsID(turnID) {
		return nil, nil
	}
	rows, _ := s.pool.Query(ctx, `SELECT `+candidateColumns+` FROM candidates c
		WHERE turn_id = $1 AND app_id = $2 ORDER BY created_at, id`, turnID, appID)
	candidates, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c memory.Candidate, err error) {
		err = row.Scan(candidateFields(&c)...)
		return c, err
	})
	return candidates, fault(err, "list the candidates of the turn")
}

// ListCandidates pages through candidates, newest first.
func (s *Store) ListCandidates(ctx context.Context, f db.CandidateFilter) ([]db.Proposal, error) {
	var where conditions
	where.add(`c.app_id = ?`, f.AppID)
	if f.UserID != "" {
		where.add(`c.user_id = ?`, f.UserID)
	}
	if f.Verdict != "" {
		where.add(`c.verdict = ?`, f.Verdict)
	}
	if f.MinImportance != 0 {
		where.add(`c.importance >= ?`, f.MinImportance)
	}
	if p := f.Before; p != nil {
		where.add(`(c.created_at, c.id) < (?, ?)`, p.At, p.ID)
	}
	found, err := s.proposals(ctx, where.sql()+` ORDER BY c.created_at DESC, c.id DESC LIMIT `+where.arg(f.Limit), where.args...)
	return found, fault(err, "list the candidates")
}

// Proposals returns those of the candidates of the app that exist.
func (s *Store) Proposals(ctx context.Context, appID string, ids []string) ([]db.Proposal, error) {
	found, err := s.proposals(ctx, `c.id = ANY($2::uuid[]) AND c.app_id = $1`, appID, onlyIDs(ids))
	return found, fault(err, "read the candidates")
}

func (s *Store) proposals(ctx context.Context, where string, args ...any) ([]db.Proposal, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT `+candidateColumns+`, c.app_id, c.user_id, t.agent_id, t.conversation_id, t.said_at
		FROM candidates c JOIN turns t ON t.id = c.turn_id WHERE `+where, args...)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p db.Proposal, err error) {
		err = row.Scan(append(candidateFields(&p.Candidate),
			&p.Owner.AppID, &p.Owner.UserID, &p.AgentID, &p.ConversationID, &p.SaidAt)...)
		return p, err
	})
}

// SettleCandidate gives a candidate of the owner a new verdict, reason and memory.
func (u *userTx) SettleCandidate(ctx context.Context, c memory.Candidate) error {
	if !memory.IsID(c.ID) {
		return notFound("candidate", c.ID)
	}
	tag, err := u.tx.Exec(ctx, `UPDATE candidates SET verdict = $4, reason = $5, memory_id = $6
		WHERE id = $1 AND app_id = $2 AND user_id = $3`,
		c.ID, u.Owner.AppID, u.Owner.UserID, c.Verdict, rowcodec.Storable(c.Reason), idOrNull(c.MemoryID))
	if err == nil && tag.RowsAffected() == 0 {
		return notFound("candidate", c.ID)
	}
	return fault(err, "settle the candidate")
}
