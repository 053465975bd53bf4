package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

const workflowColumns = `id, app_id, user_id, agent_id, name, workflow, successes, failures, notes, coalesce(memory_id, ''), first_at, last_at`

func workflowFields(w *memory.Workflow) []any {
	return []any{&w.ID, &w.AppID, &w.UserID, &w.AgentID, &w.Skill, &w.Text, &w.Successes, &w.Failures,
		(*noteList)(&w.Notes), &w.MemoryID, (*instant)(&w.FirstAt), (*instant)(&w.LastAt)}
}

// noteList is the column of a workflow's notes.
type noteList []memory.OutcomeNote

func (l *noteList) Scan(column any) (err error) {
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("the notes are a %T", column)
	}
	*l, err = rowcodec.Notes([]byte(text))
	return err
}

// seenBy adds the conditions on owner and agent.
func seenBy(where *conditions, f db.SkillFilter) {
	where.add(`app_id = ? AND user_id = ?`, f.Owner.AppID, f.Owner.UserID)
	if f.AgentID != "" {
		where.add(`agent_id IN ('', ?)`, f.AgentID)
	}
}

// ListSkills pages through a user's skills by name.
func (s *Store) ListSkills(ctx context.Context, f db.SkillFilter) ([]memory.Skill, error) {
	var where conditions
	seenBy(&where, f)
	where.add(`name > ?`, f.After)
	found, err := collect(ctx, s.reader, func(k *memory.Skill) []any {
		return []any{&k.Name, &k.Workflows, &k.Successes, &k.Failures, (*instant)(&k.LastAt)}
	}, `SELECT name, count(*), sum(successes), sum(failures), max(last_at) FROM skills WHERE `+where.sql()+
		` GROUP BY name ORDER BY name LIMIT ?`, append(where.args, f.Limit)...)
	return found, fault(err, "list the skills")
}

// Workflows lists a skill's workflows, the best first.
func (s *Store) Workflows(ctx context.Context, f db.SkillFilter, skill string) ([]memory.Workflow, error) {
	var where conditions
	seenBy(&where, f)
	where.add(`name = ?`, skill)
	found, err := collect(ctx, s.reader, workflowFields, `SELECT `+workflowColumns+` FROM skills WHERE `+where.sql()+
		` ORDER BY (successes + 1.0) / (successes + failures + 2) DESC, successes DESC, id LIMIT ?`, append(where.args, f.Limit)...)
	return found, fault(err, "list the workflows of the skill")
}

// Workflow finds a workflow of the user.
func (u *userTx) Workflow(ctx context.Context, agentID, skill, text string) (memory.Workflow, bool, error) {
	w, err := one(ctx, u.tx, workflowFields, `SELECT `+workflowColumns+` FROM skills
		WHERE app_id = ? AND user_id = ? AND name = ? AND agent_id = ? AND workflow_hash = ? AND workflow = ?`,
		u.Owner.AppID, u.Owner.UserID, skill, agentID, rowcodec.ContentHash(text), text)
	if errors.Is(err, sql.ErrNoRows) {
		return w, false, nil
	}
	return w, err == nil, fault(err, "read the workflow")
}

// CountWorkflows is how many a skill of the user has.
func (u *userTx) CountWorkflows(ctx context.Context, skill string) (int, error) {
	n, err := one(ctx, u.tx, func(n *int) []any { return []any{n} },
		`SELECT count(*) FROM skills WHERE app_id = ? AND user_id = ? AND name = ?`, u.Owner.AppID, u.Owner.UserID, skill)
	return n, fault(err, "count the workflows of the skill")
}

const insertWorkflow = `
	INSERT INTO skills (id, app_id, user_id, agent_id, name, workflow, workflow_hash, successes, failures, notes, memory_id, first_at, last_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?)`

// workflowValues are the parameters of insertWorkflow.
func workflowValues(w memory.Workflow) []any {
	return []any{w.ID, w.AppID, w.UserID, w.AgentID, w.Skill, w.Text, rowcodec.ContentHash(w.Text), w.Successes, w.Failures,
		rowcodec.NotesJSON(w.Notes), w.MemoryID, moment(w.FirstAt), moment(w.LastAt)}
}

// PutWorkflow stores a new workflow, or what has changed of one.
func (u *userTx) PutWorkflow(ctx context.Context, w memory.Workflow) error {
	if err := rowcodec.CheckWorkflow(u.Owner, w); err != nil {
		return err
	}
	_, err := u.tx.ExecContext(ctx, insertWorkflow+`
		ON CONFLICT (id) DO UPDATE SET successes = excluded.successes, failures = excluded.failures, notes = excluded.notes,
			memory_id = excluded.memory_id, last_at = excluded.last_at
		WHERE skills.app_id = excluded.app_id AND skills.user_id = excluded.user_id`, workflowValues(w)...)
	return fault(err, "store the workflow")
}

// Counted is the hash of the outcome that was counted under a client's id.
func (u *userTx) Counted(ctx context.Context, id string) (hash string, ok bool, err error) {
	hash, err = one(ctx, u.tx, func(hash *string) []any { return []any{hash} },
		`SELECT hash FROM skill_outcomes WHERE app_id = ? AND user_id = ? AND id = ?`, u.Owner.AppID, u.Owner.UserID, id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return hash, err == nil, fault(err, "look for the outcome")
}

// AddCounted notes that an outcome was counted.
func (u *userTx) AddCounted(ctx context.Context, id, hash string, at time.Time) error {
	_, err := u.tx.ExecContext(ctx, `INSERT INTO skill_outcomes (app_id, user_id, id, hash, counted_at) VALUES (?, ?, ?, ?, ?)`,
		u.Owner.AppID, u.Owner.UserID, id, hash, moment(at))
	return fault(err, "store the outcome")
}

// procedures deletes the owner's instructions and skills.
func (x *eraser) procedures(limit int) {
	d := &x.some.Deleted
	d.Instructions += x.run(`DELETE FROM instruction_versions WHERE app_id = ?1 AND scope = 'user' AND holder = ?2 AND (name, version) IN (
		SELECT name, version FROM instruction_versions WHERE app_id = ?1 AND scope = 'user' AND holder = ?2 LIMIT ?3)`, x.owner.AppID, x.owner.UserID, limit)
	x.run(`DELETE FROM instructions WHERE app_id = ?1 AND scope = 'user' AND holder = ?2 AND NOT EXISTS (SELECT 1 FROM instruction_versions v
		WHERE v.app_id = ?1 AND v.scope = 'user' AND v.holder = ?2 AND v.name = instructions.name)`, x.owner.AppID, x.owner.UserID)
	d.Skills += x.run(`DELETE FROM skills WHERE id IN (
		SELECT id FROM skills WHERE app_id = ?1 AND user_id = ?2 LIMIT ?3)`, x.owner.AppID, x.owner.UserID, limit)
	d.Outcomes += x.run(`DELETE FROM skill_outcomes WHERE app_id = ?1 AND user_id = ?2 AND id IN (
		SELECT id FROM skill_outcomes WHERE app_id = ?1 AND user_id = ?2 LIMIT ?3)`, x.owner.AppID, x.owner.UserID, limit)
}
