package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Skills keeps the successes and failures of the workflows of skills:
//
//	outcome -> Workflow -> counted -> PutWorkflow, and the memory of the workflow
//
// Skills, workflows and agents are compared by their bytes.
type Skills interface {
	// ListSkills pages through a user's skills in the order of their names,
	// strictly after one.
	ListSkills(ctx context.Context, f SkillFilter) ([]memory.Skill, error)
	// Workflows lists a skill's workflows, the best first: by their expected
	// rate of success, then by successes, then by id.
	Workflows(ctx context.Context, f SkillFilter, skill string) ([]memory.Workflow, error)
}

// SkillFilter chooses workflows, and skills that have one.
type SkillFilter struct {
	Owner   memory.Owner // required
	AgentID string       // this agent's and those of all agents; empty: any agent's
	After   string       // of a list of skills: the last name seen; empty: from the first
	Limit   int          // required, 1..memory.MaxPage
}

// SkillTx is Skills in a user's transaction.
type SkillTx interface {
	// Workflow finds a workflow; ok is false if it does not exist.
	Workflow(ctx context.Context, agentID, skill, text string) (w memory.Workflow, ok bool, err error)
	// CountWorkflows counts the workflows of a skill, of any agent.
	CountWorkflows(ctx context.Context, skill string) (int, error)
	// PutWorkflow stores a new workflow of the owner, or the counts, notes, memory
	// and last time of one. KindConflict: another one has the same text.
	PutWorkflow(ctx context.Context, w memory.Workflow) error
	// Counted returns the hash of the outcome that was counted with a client's id;
	// ok is false if no such outcome was counted.
	Counted(ctx context.Context, id string) (hash string, ok bool, err error)
	// AddCounted records that an outcome was counted. KindConflict: one with this id was.
	AddCounted(ctx context.Context, id, hash string, at time.Time) error
}
