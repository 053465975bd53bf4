package sqlite

import (
	"context"

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
		where.add(`(user_id, type, key, recorded_at, id) > (?, ?, ?, ?, ?)`, a.UserID, a.Type, a.Key, moment(a.RecordedAt), a.ID)
	}
	found, err := facts(ctx, s.reader, `facts INDEXED BY facts_history`, where.sql()+` ORDER BY user_id, type, key, recorded_at, id LIMIT ?`,
		append(where.args, of.Limit)...)
	return found, fault(err, "export the facts")
}

// RecordedFact returns a fact of the owner.
func (u *userTx) RecordedFact(ctx context.Context, id string) (memory.Fact, bool, error) {
	return recordedOne(ctx, u, factFields, `SELECT `+factColumns+` FROM facts WHERE id = ? AND +app_id = ? AND +user_id = ?`,
		id, u.Owner.AppID, u.Owner.UserID)
}

// ExportWorkflows pages through the workflows of an app's users.
func (s *Store) ExportWorkflows(ctx context.Context, of db.Extent, after *memory.Workflow) ([]memory.Workflow, error) {
	where := within(of)
	if a := after; a != nil {
		where.add(`(user_id, name, agent_id, workflow_hash) > (?, ?, ?, ?)`, a.UserID, a.Skill, a.AgentID, rowcodec.ContentHash(a.Text))
	}
	found, err := collect(ctx, s.reader, workflowFields, `SELECT `+workflowColumns+` FROM skills WHERE `+where.sql()+
		` ORDER BY user_id, name, agent_id, workflow_hash LIMIT ?`, append(where.args, of.Limit)...)
	return found, fault(err, "export the skills")
}

// ExportOutcomes pages through the outcomes that were counted under an id.
func (s *Store) ExportOutcomes(ctx context.Context, of db.Extent, after *db.CountedOutcome) ([]db.CountedOutcome, error) {
	where := within(of)
	if a := after; a != nil {
		where.add(`(user_id, id) > (?, ?)`, a.UserID, a.ID)
	}
	found, err := collect(ctx, s.reader, func(o *db.CountedOutcome) []any {
		return []any{&o.AppID, &o.UserID, &o.ID, &o.Hash, (*instant)(&o.At)}
	}, `SELECT app_id, user_id, id, hash, counted_at FROM skill_outcomes WHERE `+where.sql()+
		` ORDER BY user_id, id LIMIT ?`, append(where.args, of.Limit)...)
	return found, fault(err, "export the outcomes")
}

// RestoreWorkflow stores a new workflow as it is.
func (u *userTx) RestoreWorkflow(ctx context.Context, w memory.Workflow) error {
	if err := rowcodec.CheckWorkflow(u.Owner, w); err != nil {
		return err
	}
	_, err := u.tx.ExecContext(ctx, insertWorkflow, workflowValues(w)...)
	return fault(err, "store the workflow")
}
