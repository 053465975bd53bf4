// Package instructions publishes texts for the model:
//
//	text -> the next version of its name in a scope (app, agent or user), active or not
//	activate, roll back, retire -> which version is active
//	active ones of app < agent < user, of each name the nearest -> Merged, for the context
package instructions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Reserved is no name of an instruction: in the API it is that of all merged ones.
const Reserved = "merged"

// Service keeps instructions.
type Service struct {
	records db.Instructions
	now     func() time.Time
}

// New makes a service.
func New(records db.Instructions, now func() time.Time) *Service { return &Service{records, now} }

// Draft is a text that is to be published.
type Draft struct {
	Name     string
	Content  string // 1..memory.MaxInstruction characters
	Note     string // why; may be empty
	Activate bool   // at once
}

// Check says what is wrong with the fields of a draft.
func Check(d Draft) (wrong []memory.Field) {
	note := func(path, why string) {
		if why != "" {
			wrong = append(wrong, memory.Field{Path: path, Message: why})
		}
	}
	if d.Name == Reserved {
		note("name", "is reserved: choose another name")
	}
	note("name", CheckName(d.Name))
	note("content", memory.CheckContent(d.Content, memory.MaxInstruction))
	if d.Note != "" {
		note("note", memory.CheckContent(d.Note, memory.MaxNote))
	}
	return wrong
}

// CheckName says what is wrong with the name of an instruction; "" is nothing.
func CheckName(name string) string { return memory.CheckName(name, memory.MaxInstructionName) }

// Publish adds the next version of an instruction. KindInvalid: see Check.
// KindConflict: the scope has too many active ones, or ErrErasing.
func (s *Service) Publish(ctx context.Context, scope memory.Scope, d Draft) (is memory.Instruction, v memory.InstructionVersion, err error) {
	if wrong := Check(d); len(wrong) > 0 {
		return is, v, memory.Invalid(wrong...)
	}
	err = s.records.InScope(ctx, scope, func(ctx context.Context, tx db.InstructionTx) error {
		is, _, err = tx.FindInstruction(ctx, d.Name)
		if err != nil {
			return err
		}
		is.Scope, is.Name, is.ChangedAt = scope, d.Name, memory.Instant(s.now())
		is.Latest++
		if d.Activate {
			if err := activate(ctx, tx, &is, is.Latest); err != nil {
				return err
			}
		}
		if err := tx.PutInstruction(ctx, is); err != nil {
			return err
		}
		v = memory.InstructionVersion{Number: is.Latest, Content: d.Content, Note: d.Note, PublishedAt: is.ChangedAt}
		return tx.AddVersion(ctx, d.Name, v)
	})
	return is, v, err
}

// Activate makes a version the active one. KindNotFound: there is none.
func (s *Service) Activate(ctx context.Context, scope memory.Scope, name string, version int) (memory.Instruction, error) {
	return s.change(ctx, scope, name, func(ctx context.Context, tx db.InstructionTx, is *memory.Instruction) error {
		if version < 1 || version > is.Latest {
			return memory.Errorf(memory.KindNotFound, "there is no version %d of this instruction: the latest is %d", version, is.Latest)
		}
		return activate(ctx, tx, is, version)
	})
}

// RollBack makes the version active that was so before, and goes further back
// each time. KindConflict: none was.
func (s *Service) RollBack(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error) {
	return s.change(ctx, scope, name, func(ctx context.Context, tx db.InstructionTx, is *memory.Instruction) error {
		last := len(is.PreviouslyActive) - 1
		if last < 0 {
			return memory.Errorf(memory.KindConflict, "no version was active before: activate one by its number")
		}
		if is.Active == 0 {
			if err := room(ctx, tx); err != nil {
				return err
			}
		}
		is.Active, is.PreviouslyActive = is.PreviouslyActive[last], is.PreviouslyActive[:last]
		return nil
	})
}

// Retire leaves no version active. All stay readable, and can be activated again.
func (s *Service) Retire(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error) {
	return s.change(ctx, scope, name, func(_ context.Context, _ db.InstructionTx, is *memory.Instruction) error {
		remember(is)
		is.Active = 0
		return nil
	})
}

// change alters which version is active. Where nothing changes nothing is stored.
func (s *Service) change(ctx context.Context, scope memory.Scope, name string, f func(context.Context, db.InstructionTx, *memory.Instruction) error) (is memory.Instruction, err error) {
	err = s.records.InScope(ctx, scope, func(ctx context.Context, tx db.InstructionTx) (err error) {
		var ok bool
		if is, ok, err = tx.FindInstruction(ctx, name); err != nil {
			return err
		}
		if !ok {
			return memory.Errorf(memory.KindNotFound, "the scope has no instruction of this name: list them")
		}
		before := is.Active
		if err := f(ctx, tx, &is); err != nil || is.Active == before {
			return err
		}
		is.ChangedAt = memory.Instant(s.now())
		return tx.PutInstruction(ctx, is)
	})
	return is, err
}

func activate(ctx context.Context, tx db.InstructionTx, is *memory.Instruction, version int) error {
	if version == is.Active {
		return nil
	}
	if is.Active == 0 {
		if err := room(ctx, tx); err != nil {
			return err
		}
	}
	remember(is)
	is.Active = version
	return nil
}

// room makes sure that the scope may have one more active instruction.
func room(ctx context.Context, tx db.InstructionTx) error {
	n, err := tx.CountActive(ctx)
	if err == nil && n >= memory.MaxActiveInstructions {
		err = memory.Errorf(memory.KindConflict, "the scope has %d active instructions, and no more are allowed: retire one first", n)
	}
	return err
}

// remember notes the active version as one to roll back to.
func remember(is *memory.Instruction) {
	if is.Active == 0 {
		return
	}
	is.PreviouslyActive = append(slices.Clone(is.PreviouslyActive), is.Active)
	is.PreviouslyActive = is.PreviouslyActive[max(0, len(is.PreviouslyActive)-memory.MaxPreviouslyActive):]
}

// Version returns a version of an instruction; 0: the active one. KindNotFound:
// there is none.
func (s *Service) Version(ctx context.Context, scope memory.Scope, name string, number int) (is memory.Instruction, v memory.InstructionVersion, err error) {
	if is, err = s.records.FindInstruction(ctx, scope, name); err != nil {
		return is, v, err
	}
	if number == 0 {
		if number = is.Active; number == 0 {
			return is, v, memory.Errorf(memory.KindNotFound, "no version of this instruction is active: name one of its %d versions", is.Latest)
		}
	}
	v, err = s.records.InstructionVersion(ctx, scope, name, number)
	return is, v, err
}

// Diff tells in the unified format how the text of a version differs from that
// of an earlier or later one; "": not at all. KindNotFound: there is none.
func (s *Service) Diff(ctx context.Context, scope memory.Scope, name string, from, to int) (string, error) {
	a, err := s.records.InstructionVersion(ctx, scope, name, from)
	if err != nil {
		return "", err
	}
	b, err := s.records.InstructionVersion(ctx, scope, name, to)
	if err != nil {
		return "", err
	}
	return udiff.Unified(fmt.Sprint("version ", from), fmt.Sprint("version ", to), a.Content, b.Content), nil
}

// Merged are the instructions that a context for a user and an agent ("": of
// none) shows: the farthest scope first, then by name. Of one name only the
// nearest scope's is there.
func (s *Service) Merged(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error) {
	all, err := s.records.ActiveInstructions(ctx, appID, agentID, userID)
	if err != nil {
		return nil, err
	}
	nearest := map[string]memory.ScopeKind{}
	for _, i := range all {
		nearest[i.Name] = i.Kind
	}
	return slices.DeleteFunc(all, func(i memory.ActiveInstruction) bool { return nearest[i.Name] != i.Kind }), nil
}
