package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Instructions keeps texts for the model, in versions.
//
//	text -> InScope: AddVersion, PutInstruction -> ActiveInstructions, in the context
//
// Names are compared and ordered by their bytes. Versions are never changed
// or deleted; knowledge/instructions numbers them without gaps, under the lock of
// the scope.
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
	// InstructionVersions pages through the versions, the newest first, those
	// below a number; 0: all.
	InstructionVersions(ctx context.Context, scope memory.Scope, name string, below, limit int) (
		[]memory.InstructionVersion, error)
	// ActiveInstructions returns the active texts of the app, of the agent and
	// of the user (no agent or user if its id is empty), the farthest scope first,
	// then by name. Several scopes may have an instruction of the same name.
	ActiveInstructions(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error)
}

// InstructionTx is a scope's transaction.
type InstructionTx interface {
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
}
