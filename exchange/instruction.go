package exchange

import (
	"context"
	"fmt"
	"math"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/instructions"
)

// holder says for whom an instruction is.
type holder struct {
	Scope   memory.ScopeKind `json:"scope"`
	AgentID string           `json:"agent_id,omitempty"`
	UserID  string           `json:"user_id,omitempty"`
	Name    string           `json:"name"`
}

func holderOf(scope memory.Scope, name string) holder {
	h := holder{Scope: scope.Kind, Name: name}
	switch scope.Kind {
	case memory.AgentScope:
		h.AgentID = scope.ID
	case memory.UserScope:
		h.UserID = scope.ID
	}
	return h
}

func (h holder) scope(appID string) memory.Scope {
	return memory.Scope{AppID: appID, Kind: h.Scope, ID: h.AgentID + h.UserID}
}

func (h holder) check(c *complaints, path string) {
	known(c, path+"scope", memory.ScopeKinds, h.Scope)
	for _, id := range []struct {
		field, value string
		of           memory.ScopeKind
	}{{"agent_id", h.AgentID, memory.AgentScope}, {"user_id", h.UserID, memory.UserScope}} {
		if h.Scope == id.of {
			c.note(path+id.field, memory.CheckID(id.value, false))
		} else if id.value != "" {
			c.note(path+id.field, fmt.Sprintf("is given, though the scope is %q", h.Scope))
		}
	}
	c.note(path+"name", instructions.CheckName(h.Name))
}

// instructionLine is an instruction without its texts, which follow, the newest
// first.
type instructionLine struct {
	holder
	Latest    int       `json:"latest"`
	Active    int       `json:"active,omitempty"`
	Before    []int     `json:"before,omitempty"` // what was active before, the latest last
	ChangedAt time.Time `json:"changed_at"`
}

// versionLine is one text of an instruction.
type versionLine struct {
	holder
	Version     int       `json:"version"`
	Content     string    `json:"content"`
	Note        string    `json:"note,omitempty"`
	PublishedAt time.Time `json:"published_at"`
}

func instructionLineOf(i memory.Instruction) instructionLine {
	return instructionLine{holderOf(i.Scope, i.Name), i.Latest, i.Active, i.PreviouslyActive, i.ChangedAt}
}

func versionLineOf(scope memory.Scope, name string, v memory.InstructionVersion) versionLine {
	return versionLine{holderOf(scope, name), v.Number, v.Content, v.Note, v.PublishedAt}
}

func (l *instructionLine) kind() Kind { return Instructions }
func (l *versionLine) kind() Kind     { return Versions }

func (l *instructionLine) check(c *complaints) {
	l.holder.check(c, "instruction.")
	number := func(path string, n, least, most int) {
		if n < least || n > most {
			c.note(path, fmt.Sprintf("is not in %d to %d", least, most))
		}
	}
	number("instruction.latest", l.Latest, 1, math.MaxInt32)
	number("instruction.active", l.Active, 0, l.Latest)
	if len(l.Before) > memory.MaxPreviouslyActive {
		c.note("instruction.before", fmt.Sprintf("has more than %d versions", memory.MaxPreviouslyActive))
	}
	for n, before := range l.Before {
		number(fmt.Sprintf("instruction.before[%d]", n), before, 1, l.Latest)
	}
	c.time("instruction.changed_at", l.ChangedAt)
}

func (l *versionLine) check(c *complaints) {
	l.holder.check(c, "instruction_version.")
	if l.Version < 1 || l.Version > math.MaxInt32 {
		c.note("instruction_version.version", "is not a number from 1 on")
	}
	c.note("instruction_version.content", memory.CheckContent(l.Content, memory.MaxInstruction))
	c.textOrNone("instruction_version.note", l.Note, memory.MaxNote)
	c.time("instruction_version.published_at", l.PublishedAt)
}

func (l *instructionLine) wait(ctx context.Context, i *importing, number, size int) error {
	is := memory.Instruction{
		Scope: l.scope(i.appID), Name: l.Name, Latest: l.Latest, Active: l.Active, PreviouslyActive: l.Before, ChangedAt: memory.Instant(l.ChangedAt),
	}
	return enqueue(ctx, i, &i.scopes, is.Scope, part[db.InstructionTx]{number, Instructions, func(ctx context.Context, tx db.InstructionTx) (bool, error) {
		return putInstruction(ctx, tx, is)
	}}, size)
}

func (l *versionLine) wait(ctx context.Context, i *importing, number, size int) error {
	v := memory.InstructionVersion{Number: l.Version, Content: l.Content, Note: l.Note, PublishedAt: memory.Instant(l.PublishedAt)}
	scope, name := l.scope(i.appID), l.Name
	return enqueue(ctx, i, &i.scopes, scope, part[db.InstructionTx]{number, Versions, func(ctx context.Context, tx db.InstructionTx) (bool, error) {
		return putVersion(ctx, tx, scope, name, v)
	}}, size)
}

// putInstruction stores an instruction.
func putInstruction(ctx context.Context, tx db.InstructionTx, told memory.Instruction) (fresh bool, err error) {
	is, ok, err := tx.FindInstruction(ctx, told.Name)
	if err != nil {
		return false, err
	}
	if ok {
		return false, same("this instruction", instructionLineOf(told), instructionLineOf(is))
	}
	if told.Active > 0 {
		if n, err := tx.CountActive(ctx); err != nil || n >= memory.MaxActiveInstructions {
			return false, orConflict(err, "the scope has %d active instructions, and no more are allowed: retire one first", n)
		}
	}
	return true, tx.PutInstruction(ctx, told)
}

// putVersion stores a text of an instruction that is here.
func putVersion(ctx context.Context, tx db.InstructionTx, scope memory.Scope, name string, told memory.InstructionVersion) (fresh bool, err error) {
	is, ok, err := tx.FindVersion(ctx, name, told.Number)
	if err != nil {
		return false, err
	}
	if ok {
		return false, same(fmt.Sprintf("version %d of this instruction", told.Number), versionLineOf(scope, name, told), versionLineOf(scope, name, is))
	}
	instruction, ok, err := tx.FindInstruction(ctx, name)
	if err != nil || !ok || told.Number > instruction.Latest {
		return false, orConflict(err, "is of an instruction that has no version %d here", told.Number)
	}
	return true, tx.AddVersion(ctx, name, told)
}
