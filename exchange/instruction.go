package exchange

import (
	"context"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/knowledge/instructions"
)

// instructionKey names an instruction.
type instructionKey struct {
	wire.Scope
	Name string `json:"name"`
}

func (k *instructionKey) scope(appID string) memory.Scope {
	return memory.Scope{AppID: appID, Kind: k.Scope.Scope, ID: k.AgentID + k.UserID}
}

func (k *instructionKey) check(f *faults, path string) {
	oneOf(f, path+"scope", memory.ScopeKinds, k.Scope.Scope)
	for _, id := range []struct {
		field, value string
		kind         memory.ScopeKind
	}{{"agent_id", k.AgentID, memory.AgentScope}, {"user_id", k.UserID, memory.UserScope}} {
		if k.Scope.Scope == id.kind {
			f.note(path+id.field, memory.CheckID(id.value, false))
		} else if id.value != "" {
			f.note(path+id.field, fmt.Sprintf("is given, though the scope is %q", k.Scope.Scope))
		}
	}
	f.note(path+"name", instructions.CheckName(k.Name))
}

// instructionLine is an instruction. Its versions follow, the newest first.
type instructionLine struct {
	instructionKey
	Latest           int       `json:"latest"`
	Active           int       `json:"active,omitempty"`
	PreviouslyActive []int     `json:"before,omitempty"` // the latest last
	ChangedAt        time.Time `json:"changed_at"`
}

// versionLine is one version of an instruction.
type versionLine struct {
	instructionKey
	wire.InstructionVersion
}

func instructionLineOf(i memory.Instruction) instructionLine {
	return instructionLine{
		instructionKey: instructionKey{wire.ScopeOf(i.Scope), i.Name},
		Latest:         i.Latest, Active: i.Active, PreviouslyActive: i.PreviouslyActive, ChangedAt: i.ChangedAt,
	}
}

func versionLineOf(scope memory.Scope, name string, v memory.InstructionVersion) versionLine {
	return versionLine{instructionKey{wire.ScopeOf(scope), name}, wire.VersionOf(v)}
}

func (l *instructionLine) kind() Kind { return Instructions }
func (l *versionLine) kind() Kind     { return Versions }

func (l *instructionLine) check(f *faults) {
	l.instructionKey.check(f, "instruction.")
	inRange(f, "instruction.latest", l.Latest, 1, maxNumber)
	inRange(f, "instruction.active", l.Active, 0, l.Latest)
	if len(l.PreviouslyActive) > memory.MaxPreviouslyActive {
		f.note("instruction.before", fmt.Sprintf("has more than %d versions", memory.MaxPreviouslyActive))
	}
	for n, version := range l.PreviouslyActive {
		inRange(f, fmt.Sprintf("instruction.before[%d]", n), version, 1, l.Latest)
	}
	f.time("instruction.changed_at", l.ChangedAt)
}

func (l *versionLine) check(f *faults) {
	l.instructionKey.check(f, "instruction_version.")
	inRange(f, "instruction_version.version", l.Number, 1, maxNumber)
	f.note("instruction_version.content", memory.CheckContent(l.Content, memory.MaxInstruction))
	f.optionalText("instruction_version.note", l.Note, memory.MaxNote)
	f.time("instruction_version.published_at", l.PublishedAt)
	for n, g := range l.Grounds {
		path := fmt.Sprintf("instruction_version.grounds[%d].", n)
		f.note(path+"line", memory.CheckContent(g.Line, memory.MaxInstruction))
		for i, id := range g.Memories {
			f.id(fmt.Sprintf("%smemories[%d]", path, i), id)
		}
	}
	for _, o := range []*wire.Outcomes{l.Before, l.After} {
		if o != nil {
			inRange(f, "instruction_version.outcomes", o.Successes, 0, maxNumber)
			inRange(f, "instruction_version.outcomes", o.Failures, 0, maxNumber)
		}
	}
}

func (l *instructionLine) restore(ctx context.Context, i *importing, tx db.InstructionTx) (fresh bool, err error) {
	instruction := memory.Instruction{
		Scope: l.scope(i.appID), Name: l.Name, Latest: l.Latest, Active: l.Active,
		PreviouslyActive: l.PreviouslyActive, ChangedAt: memory.Instant(l.ChangedAt),
	}
	stored, found, err := tx.FindInstruction(ctx, l.Name)
	if err != nil || found {
		return false, orDifference(err, "this instruction", instructionLineOf(instruction), instructionLineOf(stored))
	}
	if l.Active > 0 {
		if n, err := tx.CountActive(ctx); err != nil || n >= memory.MaxActiveInstructions {
			return false, orConflict(err,
				"the scope has %d active instructions, and no more are allowed: retire one first", n)
		}
	}
	return true, tx.PutInstruction(ctx, instruction)
}

func (l *versionLine) restore(ctx context.Context, i *importing, tx db.InstructionTx) (fresh bool, err error) {
	scope, version := l.scope(i.appID), l.Version()
	version.PublishedAt = memory.Instant(l.PublishedAt)
	stored, found, err := tx.FindVersion(ctx, l.Name, l.Number)
	if err != nil || found {
		return false, orDifference(err, fmt.Sprintf("version %d of this instruction", l.Number),
			versionLineOf(scope, l.Name, version), versionLineOf(scope, l.Name, stored))
	}
	instruction, found, err := tx.FindInstruction(ctx, l.Name)
	if err != nil || !found || l.Number > instruction.Latest {
		return false, orConflict(err, "is of an instruction that has no version %d here", l.Number)
	}
	return true, tx.AddVersion(ctx, l.Name, version)
}
