package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Skills keeps how well the workflows of skills have done.
//
//	outcome -> Workflow -> counted -> PutWorkflow, and the memory that tells it
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
	AgentID string       // this agent's and those that all have; empty: any agent's
	After   string       // of a list of skills: the last name seen; empty: from the first
	Limit   int          // required, 1..memory.MaxPage
}

// SkillTx is Skills in a user's transaction.
type SkillTx interface {
	// Workflow finds one; ok is false where there is none.
	Workflow(ctx context.Context, agentID, skill, text string) (w memory.Workflow, ok bool, err error)
	// CountWorkflows is how many the skill has, any agent's.
	CountWorkflows(ctx context.Context, skill string) (int, error)
	// PutWorkflow stores a new workflow of the owner, or the counts, notes, memory
	// and last time of one. KindConflict: another one says the same.
	PutWorkflow(ctx context.Context, w memory.Workflow) error
	// Counted is the hash of the outcome that was counted under a client's id;
	// ok is false where none was.
	Counted(ctx context.Context, id string) (hash string, ok bool, err error)
	// AddCounted notes that an outcome was counted. KindConflict: one was.
	AddCounted(ctx context.Context, id, hash string, at time.Time) error
}
