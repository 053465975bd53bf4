package db

import (
	"context"

	"hippocampus/internal/memory"
)

// Instructions keeps texts for the model, in versions.
//
//	text -> InScope: AddVersion, PutInstruction -> ActiveInstructions, in the context
//
// Names are compared and ordered by their bytes. Versions are only ever added;
// that their numbers follow each other is knowledge/instructions' work, under
// the scope's lock.
type Instructions interface {
	// InScope runs f in one transaction that holds the write lock of the scope;
	// for a user's it is InUser's. What is said there of f, of errors and of
	// ErrErasing holds here, too.
	InScope(ctx context.Context, scope memory.Scope, f func(ctx context.Context, tx InstructionTx) error) error
	// ListInstructions pages through a scope's instructions, active or not, in
	// the order of their names, strictly after one.
	ListInstructions(ctx context.Context, scope memory.Scope, after string, limit int) ([]memory.Instruction, error)
	// FindInstruction returns one. KindNotFound: the scope has none of this name.
	FindInstruction(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error)
	// InstructionVersion returns one version. KindNotFound: there is none.
	InstructionVersion(ctx context.Context, scope memory.Scope, name string, number int) (memory.InstructionVersion, error)
	// InstructionVersions pages through the versions, the newest first, those
	// below a number; 0: all.
	InstructionVersions(ctx context.Context, scope memory.Scope, name string, below, limit int) ([]memory.InstructionVersion, error)
	// ActiveInstructions returns the active texts of the app, of the agent and
	// of the user ("": of none), the farthest scope first, then by name. One
	// name may stand in several scopes.
	ActiveInstructions(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error)
}

// InstructionTx is a scope's transaction.
type InstructionTx interface {
	// FindInstruction returns one of the scope; ok is false where there is none.
	FindInstruction(ctx context.Context, name string) (i memory.Instruction, ok bool, err error)
	// CountActive is how many instructions of the scope are active.
	CountActive(ctx context.Context) (int, error)
	// FindVersion returns a version; ok is false where there is none.
	FindVersion(ctx context.Context, name string, number int) (v memory.InstructionVersion, ok bool, err error)
	// PutInstruction stores a new or changed instruction of the scope.
	PutInstruction(ctx context.Context, i memory.Instruction) error
	// AddVersion stores a version. KindConflict: there is one of this number.
	AddVersion(ctx context.Context, name string, v memory.InstructionVersion) error
}
