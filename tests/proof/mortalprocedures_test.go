package proof

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// InScope is rolled back when the process dies before the commit, as InUser is.
func (s *mortalRecords) InScope(ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx db.InstructionTx) error) error {
	return act(s.fuse, "InScope", func() error {
		return s.real.InScope(ctx, scope, func(ctx context.Context, tx db.InstructionTx) error {
			if err := f(ctx, &mortalScope{s.fuse, tx}); err != nil {
				return err
			}
			return s.alive()
		})
	})
}

func (s *mortalRecords) ListInstructions(ctx context.Context, scope memory.Scope, after string, limit int) ([]memory.Instruction, error) {
	return get(s.fuse, "ListInstructions", func() ([]memory.Instruction, error) { return s.real.ListInstructions(ctx, scope, after, limit) })
}

func (s *mortalRecords) FindInstruction(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error) {
	return get(s.fuse, "FindInstruction", func() (memory.Instruction, error) { return s.real.FindInstruction(ctx, scope, name) })
}

func (s *mortalRecords) InstructionVersion(ctx context.Context, scope memory.Scope, name string, number int) (memory.InstructionVersion, error) {
	return get(s.fuse, "InstructionVersion", func() (memory.InstructionVersion, error) {
		return s.real.InstructionVersion(ctx, scope, name, number)
	})
}

func (s *mortalRecords) InstructionVersions(ctx context.Context, scope memory.Scope, name string, below, limit int) ([]memory.InstructionVersion, error) {
	return get(s.fuse, "InstructionVersions", func() ([]memory.InstructionVersion, error) {
		return s.real.InstructionVersions(ctx, scope, name, below, limit)
	})
}

func (s *mortalRecords) ActiveInstructions(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error) {
	return get(s.fuse, "ActiveInstructions", func() ([]memory.ActiveInstruction, error) {
		return s.real.ActiveInstructions(ctx, appID, agentID, userID)
	})
}

// mortalScope is a scope's transaction of a process that can die.
type mortalScope struct {
	*fuse
	real db.InstructionTx
}

func (s *mortalScope) FindInstruction(ctx context.Context, name string) (memory.Instruction, bool, error) {
	return find(s.fuse, "tx.FindInstruction", func() (memory.Instruction, bool, error) { return s.real.FindInstruction(ctx, name) })
}

func (s *mortalScope) FindVersion(ctx context.Context, name string, number int) (memory.InstructionVersion, bool, error) {
	return find(s.fuse, "tx.FindVersion", func() (memory.InstructionVersion, bool, error) { return s.real.FindVersion(ctx, name, number) })
}

func (s *mortalScope) CountActive(ctx context.Context) (int, error) {
	return get(s.fuse, "tx.CountActive", func() (int, error) { return s.real.CountActive(ctx) })
}

func (s *mortalScope) PutInstruction(ctx context.Context, i memory.Instruction) error {
	return act(s.fuse, "tx.PutInstruction", func() error { return s.real.PutInstruction(ctx, i) })
}

func (s *mortalScope) AddVersion(ctx context.Context, name string, v memory.InstructionVersion) error {
	return act(s.fuse, "tx.AddVersion", func() error { return s.real.AddVersion(ctx, name, v) })
}

func (s *mortalRecords) ListSkills(ctx context.Context, f db.SkillFilter) ([]memory.Skill, error) {
	return get(s.fuse, "ListSkills", func() ([]memory.Skill, error) { return s.real.ListSkills(ctx, f) })
}

func (s *mortalRecords) Workflows(ctx context.Context, f db.SkillFilter, skill string) ([]memory.Workflow, error) {
	return get(s.fuse, "Workflows", func() ([]memory.Workflow, error) { return s.real.Workflows(ctx, f, skill) })
}

func (s *mortalTx) Workflow(ctx context.Context, agentID, skill, text string) (memory.Workflow, bool, error) {
	return find(s.fuse, "tx.Workflow", func() (memory.Workflow, bool, error) { return s.real.Workflow(ctx, agentID, skill, text) })
}

func (s *mortalTx) CountWorkflows(ctx context.Context, skill string) (int, error) {
	return get(s.fuse, "tx.CountWorkflows", func() (int, error) { return s.real.CountWorkflows(ctx, skill) })
}

func (s *mortalTx) PutWorkflow(ctx context.Context, w memory.Workflow) error {
	return act(s.fuse, "tx.PutWorkflow", func() error { return s.real.PutWorkflow(ctx, w) })
}

func (s *mortalTx) Counted(ctx context.Context, id string) (string, bool, error) {
	return find(s.fuse, "tx.Counted", func() (string, bool, error) { return s.real.Counted(ctx, id) })
}

func (s *mortalTx) AddCounted(ctx context.Context, id, hash string, at time.Time) error {
	return act(s.fuse, "tx.AddCounted", func() error { return s.real.AddCounted(ctx, id, hash, at) })
}
