package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// within begins the conditions of an extent.
func within(of db.Extent) (where conditions) {
	where.add(`app_id = ?`, of.AppID)
	if of.UserID != "" {
		where.add(`user_id = ?`, of.UserID)
	}
	return where
}

// ExportFacts pages through the evidence of an app's timelines.
func (s *Store) ExportFacts(ctx context.Context, of db.Extent, after *memory.Fact) ([]memory.Fact, error) {
	where := within(of)
	if a := after; a != nil {
		where.add(`(user_id, type, key, recorded_at, id) > (?, ?, ?, ?, ?)`, a.UserID, a.Type, a.Key, a.RecordedAt, a.ID)
	}
	found, err := facts(ctx, s.pool, where.sql()+` ORDER BY user_id, type, key, recorded_at, id LIMIT `+where.arg(of.Limit), where.args...)
	return found, fault(err, "export the facts")
}

// RecordedFact returns a fact of the owner.
func (u *userTx) RecordedFact(ctx context.Context, id string) (f memory.Fact, ok bool, err error) {
	found, err := facts(ctx, u.tx, `id = $3 AND app_id = $1 AND user_id = $2`, u.Owner.AppID, u.Owner.UserID, id)
	if err != nil || len(found) == 0 {
		return f, false, fault(err, "read the fact")
	}
	return found[0], true, nil
}

// ExportWorkflows pages through the workflows of an app's users.
func (s *Store) ExportWorkflows(ctx context.Context, of db.Extent, after *memory.Workflow) ([]memory.Workflow, error) {
	where := within(of)
	if a := after; a != nil {
		where.add(`(user_id, name, agent_id, workflow_hash) > (?, ?, ?, ?)`, a.UserID, a.Skill, a.AgentID, rowcodec.ContentHash(a.Text))
	}
	found, err := workflows(ctx, s.pool, where.sql()+` ORDER BY user_id, name, agent_id, workflow_hash LIMIT `+where.arg(of.Limit), where.args...)
	return found, fault(err, "export the skills")
}

// ExportOutcomes pages through the outcomes that were counted under an id.
func (s *Store) ExportOutcomes(ctx context.Context, of db.Extent, after *db.CountedOutcome) ([]db.CountedOutcome, error) {
	where := within(of)
	if a := after; a != nil {
		where.add(`(user_id, id) > (?, ?)`, a.UserID, a.ID)
	}
	rows, _ := s.pool.Query(ctx, `SELECT app_id, user_id, id, hash, counted_at FROM skill_outcomes WHERE `+where.sql()+
		` ORDER BY user_id, id LIMIT `+where.arg(of.Limit), where.args...)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o db.CountedOutcome, err error) {
		return o, row.Scan(&o.AppID, &o.UserID, &o.ID, &o.Hash, &o.At)
	})
	return found, fault(err, "export the outcomes")
}

// RestoreWorkflow stores a new workflow as it is.
func (u *userTx) RestoreWorkflow(ctx context.Context, w memory.Workflow) error {
	if err := rowcodec.CheckWorkflow(u.Owner, w); err != nil {
		return err
	}
	_, err := u.tx.Exec(ctx, insertWorkflow, workflowValues(w)...)
	return fault(err, "store the workflow")
}
