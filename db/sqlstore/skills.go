package sqlstore

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const selectWorkflows = `SELECT id, app_id, user_id, agent_id, name, workflow, successes, failures, notes,
	memory_id, first_at, last_at FROM skills WHERE `

func workflowFields(w *memory.Workflow) []any {
	return []any{&w.ID, &w.AppID, &w.UserID, &w.AgentID, &w.Skill, &w.Text, &w.Successes, &w.Failures,
		(*jsonArray[memory.OutcomeNote])(&w.Notes), (*ID)(&w.MemoryID), &w.FirstAt, &w.LastAt}
}

// skillConditions begins the conditions on owner and agent.
func skillConditions(f db.SkillFilter) (where Conditions) {
	where.Add(`app_id = ? AND user_id = ?`, f.Owner.AppID, f.Owner.UserID)
	if f.AgentID != "" {
		where.Add(`agent_id IN ('', ?)`, f.AgentID)
	}
	return where
}

func (s *Store) ListSkills(ctx context.Context, f db.SkillFilter) ([]memory.Skill, error) {
	where := skillConditions(f)
	where.Add(`name > ?`, f.After)
	limit := where.Arg(f.Limit)
	found, err := collect(ctx, s.conn, func(k *memory.Skill) []any {
		return []any{&k.Name, &k.Workflows, &k.Successes, &k.Failures, &k.LastAt}
	}, `SELECT name, count(*), sum(successes), sum(failures), max(last_at) FROM skills WHERE `+where.SQL()+
		` GROUP BY name ORDER BY name LIMIT `+limit, where.Args...)
	return found, s.fault(err, "list the skills")
}

func (s *Store) Workflows(ctx context.Context, f db.SkillFilter, skill string) ([]memory.Workflow, error) {
	where := skillConditions(f)
	where.Add(`name = ?`, skill)
	found, err := page(ctx, s.conn, workflowFields, selectWorkflows, where,
		`(successes + 1.0)::float8 / (successes + failures + 2) DESC, successes DESC, id`, f.Limit)
	return found, s.fault(err, "list the workflows of the skill")
}

func (s *Store) ExportWorkflows(ctx context.Context, of db.Extent, after *memory.Workflow) ([]memory.Workflow, error) {
	where := within(of)
	if a := after; a != nil {
		where.Add(`(user_id, name, agent_id, workflow_hash) > (?, ?, ?, ?)`,
			a.UserID, a.Skill, a.AgentID, rowcodec.ContentHash(a.Text))
	}
	found, err := page(ctx, s.conn, workflowFields, selectWorkflows, where, `user_id, name, agent_id, workflow_hash`,
		of.Limit)
	return found, s.fault(err, "export the skills")
}

func (s *Store) ExportOutcomes(
	ctx context.Context, of db.Extent, after *db.CountedOutcome,
) ([]db.CountedOutcome, error) {
	where := within(of)
	if a := after; a != nil {
		where.Add(`(user_id, id) > (?, ?)`, a.UserID, a.ID)
	}
	found, err := page(ctx, s.conn, func(o *db.CountedOutcome) []any {
		return []any{&o.AppID, &o.UserID, &o.ID, &o.Hash, &o.At}
	}, `SELECT app_id, user_id, id, hash, counted_at FROM skill_outcomes WHERE `, where, `user_id, id`, of.Limit)
	return found, s.fault(err, "export the outcomes")
}

func (u *UserTx) Workflow(ctx context.Context, agentID, skill, text string) (memory.Workflow, bool, error) {
	w, ok, err := first(ctx, u.conn, workflowFields, selectWorkflows+
		`app_id = $1 AND user_id = $2 AND name = $3 AND agent_id = $4 AND workflow_hash = $5 AND workflow = $6`,
		u.Owner.AppID, u.Owner.UserID, skill, agentID, rowcodec.ContentHash(text), text)
	return w, ok, u.fault(err, "read the workflow")
}

func (u *UserTx) CountWorkflows(ctx context.Context, skill string) (int, error) {
	n, _, err := first(ctx, u.conn, only[int],
		`SELECT count(*) FROM skills WHERE app_id = $1 AND user_id = $2 AND name = $3`,
		u.Owner.AppID, u.Owner.UserID, skill)
	return n, u.fault(err, "count the workflows of the skill")
}

func (u *UserTx) PutWorkflow(ctx context.Context, w memory.Workflow) error {
	return u.insertWorkflow(ctx, w, `
		ON CONFLICT (id) DO UPDATE SET successes = excluded.successes, failures = excluded.failures, notes = excluded.notes,
			memory_id = excluded.memory_id, last_at = excluded.last_at
		WHERE skills.app_id = excluded.app_id AND skills.user_id = excluded.user_id`)
}

func (u *UserTx) RestoreWorkflow(ctx context.Context, w memory.Workflow) error {
	return u.insertWorkflow(ctx, w, "")
}

func (u *UserTx) insertWorkflow(ctx context.Context, w memory.Workflow, onConflict string) error {
	if err := u.check("workflow", w.Owner, w.ID, w.MemoryID); err != nil {
		return err
	}
	_, err := u.exec(ctx, `
		INSERT INTO skills (id, app_id, user_id, agent_id, name, workflow, workflow_hash,
			successes, failures, notes, memory_id, first_at, last_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`+onConflict,
		w.ID, w.AppID, w.UserID, w.AgentID, w.Skill, w.Text, rowcodec.ContentHash(w.Text),
		w.Successes, w.Failures, arrayJSON(w.Notes), nullID(w.MemoryID), w.FirstAt, w.LastAt)
	return u.fault(err, "store the workflow")
}

func (u *UserTx) Counted(ctx context.Context, id string) (hash string, ok bool, err error) {
	hash, ok, err = first(ctx, u.conn, only[string],
		`SELECT hash FROM skill_outcomes WHERE app_id = $1 AND user_id = $2 AND id = $3`,
		u.Owner.AppID, u.Owner.UserID, id)
	return hash, ok, u.fault(err, "look for the outcome")
}

func (u *UserTx) AddCounted(ctx context.Context, id, hash string, at time.Time) error {
	_, err := u.exec(ctx, `INSERT INTO skill_outcomes (app_id, user_id, id, hash, counted_at) VALUES ($1, $2, $3, $4, $5)`,
		u.Owner.AppID, u.Owner.UserID, id, hash, at)
	return u.fault(err, "store the outcome")
}
