package db

import (
	"context"
	"time"

	"hippocampus/internal/memory"
)

// Timelines keeps which facts of a user are valid when, with the evidence for them:
//
//	evidence -> FactAt, NextFact -> AddFact, ChangeFact -> ListFacts at any instant
//
// Types and keys are compared by their bytes. The stores refuse two accepted
// facts of a timeline that begin at one instant or are both open; knowledge/facts
// prevents all other overlaps, under the owner lock.
type Timelines interface {
	// ListFacts pages through the facts that are valid at an instant, the one
	// with the latest ValidFrom first.
	ListFacts(ctx context.Context, f FactFilter) ([]memory.Fact, error)
	// FactHistory pages through all evidence on a timeline, in any state, in
	// (RecordedAt, ID) order, strictly after a position if one is given.
	FactHistory(ctx context.Context, t Timeline, after *Position, limit int) ([]memory.Fact, error)
	// DueFacts lists facts of any owner whose Due is at or before an instant,
	// in (Due, ID) order, strictly after a position.
	DueFacts(ctx context.Context, now time.Time, after Position, limit int) ([]memory.Fact, error)
}

// TimelineTx is Timelines in a user's transaction.
type TimelineTx interface {
	// FactAt returns the fact that is valid at an instant; ok is false if there is no such fact.
	FactAt(ctx context.Context, factType, key string, at time.Time) (f memory.Fact, ok bool, err error)
	// NextFact returns the earliest ValidFrom after an instant of an accepted or
	// ended fact of the timeline; zero if there is no such fact.
	NextFact(ctx context.Context, factType, key string, after time.Time) (time.Time, error)
	// FactWithMemory returns the fact of the timeline that has a memory; ok is false if there is no such fact.
	FactWithMemory(ctx context.Context, factType, key string) (f memory.Fact, ok bool, err error)
	// FactsOf returns the accepted facts of the owner that memories state or stated, in (memory, instant) order.
	FactsOf(ctx context.Context, memoryIDs []string) ([]memory.Fact, error)
	// AddFact stores a new fact. KindConflict: the timeline has an accepted fact that begins at the same instant, another
	// open fact if f is open, or another fact with a memory if f has one.
	AddFact(ctx context.Context, f memory.Fact) error
	// ChangeFact stores the confidence, end, state, reason and memory of a fact
	// of the owner, with EndsMemory and Due. KindNotFound: it does not exist.
	ChangeFact(ctx context.Context, f memory.Fact) error
}

// Timeline names a timeline.
type Timeline struct {
	Owner     memory.Owner
	Type, Key string
}

// FactFilter chooses facts. Empty fields do not restrict.
type FactFilter struct {
	Owner  memory.Owner // required
	Type   string
	Key    string
	At     time.Time // valid at this instant; zero: accepted for any time
	Before *Position // strictly older than this, in (ValidFrom, ID) order
	Limit  int       // required, 1..memory.MaxPage
}

// Instructions keeps texts for the model, in versions.
//
//	text -> InScope: AddVersion, PutInstruction -> ActiveInstructions, in the context
//
// Names are compared and ordered by their bytes. Versions are never deleted, and changed by UserTx.RemoveLines and
// CountOutcome alone; knowledge/instructions numbers them without gaps, under the lock of the scope.
type Instructions interface {
	// InScope runs f in one transaction that holds the write lock of the scope; for
	// a user's scope that is the owner lock. The rules of InUser for f, errors and
	// ErrErasing apply.
	InScope(ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx InstructionTx) error) error
	// ListInstructions pages through a scope's instructions, active or not, in
	// the order of their names, strictly after one.
	ListInstructions(ctx context.Context, scope memory.Scope, after string, limit int) ([]memory.Instruction, error)
	// FindInstruction returns an instruction. KindNotFound: the scope has no such name.
	FindInstruction(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error)
	// InstructionVersion returns a version. KindNotFound: it does not exist.
	InstructionVersion(ctx context.Context, scope memory.Scope, name string, number int) (memory.InstructionVersion, error)
	// InstructionVersions pages through the versions below a number (0: all), the newest first.
	InstructionVersions(ctx context.Context, scope memory.Scope, name string, below, limit int) (
		[]memory.InstructionVersion, error)
	// ActiveInstructions returns the active texts of the app, of the agent and
	// of the user (no agent or user if its id is empty), the farthest scope first,
	// then by name. Several scopes may have an instruction of the same name.
	ActiveInstructions(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error)
	// LostGrounds returns the memories that versions of a user's instructions rest on and that do not hold any more: they
	// are superseded, or forgotten without having faded.
	LostGrounds(ctx context.Context, owner memory.Owner) (ids []string, err error)
}

// InstructionTx is a scope's transaction.
type InstructionTx interface {
	// State is Maintenance.State of the user of the scope; zero for other scopes.
	State(ctx context.Context) (UserState, error)
	// FindInstruction returns an instruction of the scope; ok is false if it does not exist.
	FindInstruction(ctx context.Context, name string) (i memory.Instruction, ok bool, err error)
	// CountActive counts the active instructions of the scope.
	CountActive(ctx context.Context) (int, error)
	// FindVersion returns a version; ok is false if it does not exist.
	FindVersion(ctx context.Context, name string, number int) (v memory.InstructionVersion, ok bool, err error)
	// PutInstruction stores a new or changed instruction of the scope.
	PutInstruction(ctx context.Context, i memory.Instruction) error
	// AddVersion stores a version. KindConflict: the number exists already.
	AddVersion(ctx context.Context, name string, v memory.InstructionVersion) error
	// Outcomes counts the outcomes of a skill of the user of the scope; of all skills if it is empty.
	Outcomes(ctx context.Context, skill string) (memory.Outcomes, error)
	// DecideInsight is ProposedTx.DecideInsight.
	DecideInsight(ctx context.Context, id string) error
}

// InstructionLines changes versions of a user's instructions.
type InstructionLines interface {
	// RemoveLines removes the lines that rest on memories from all versions. A version without a line is not active any
	// more, and never becomes so by a rollback.
	RemoveLines(ctx context.Context, memoryIDs []string) error
	// CountOutcome counts an outcome for the active versions of instructions with these names, and returns the versions.
	CountOutcome(ctx context.Context, names []string, success bool) ([]memory.ActiveInstruction, error)
}

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
	// PutWorkflow stores a new workflow of the owner, or the counts, notes, memory and last time of a stored one.
	// KindConflict: another workflow has the same text.
	PutWorkflow(ctx context.Context, w memory.Workflow) error
	// Counted returns the hash of the outcome that was counted with a client's id;
	// ok is false if no such outcome was counted.
	Counted(ctx context.Context, id string) (hash string, ok bool, err error)
	// AddCounted records that an outcome was counted. KindConflict: an outcome with this id was counted before.
	AddCounted(ctx context.Context, id, hash string, at time.Time) error
}
