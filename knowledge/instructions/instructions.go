// Package instructions publishes texts for the model:
//
//	text -> the next version of its name in a scope (app, agent or user), active or not
//	activate, roll back, retire -> which version is active
//	active instructions of app < agent < user, the nearest of each name -> Merged, for the context
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

// Reserved cannot name an instruction: the API uses it for the merged instructions.
const Reserved = "merged"

// Service keeps instructions.
type Service struct {
	records db.Instructions
	now     func() time.Time
}

// New makes a service.
func New(records db.Instructions, now func() time.Time) *Service { return &Service{records, now} }

// Draft is a text to publish.
type Draft struct {
	Name     string
	Content  string // 1..memory.MaxInstruction characters
	Note     string // why; may be empty
	Activate bool   // at once

	// Of a proposal:
	Proposal string          // id; it is decided in the same transaction
	Append   bool            // the content becomes a further line of the active version
	Grounds  []memory.Ground // of the lines of the content
}

// Check returns what is wrong with the fields of a draft.
func Check(d Draft) (wrong memory.Fields) {
	if d.Name == Reserved {
		wrong.Add("name", "is reserved: choose another name")
	}
	wrong.Add("name", CheckName(d.Name))
	wrong.Add("content", memory.CheckContent(d.Content, memory.MaxInstruction))
	if d.Note != "" {
		wrong.Add("note", memory.CheckContent(d.Note, memory.MaxNote))
	}
	return wrong
}

// CheckName returns what is wrong with the name of an instruction, "" if nothing is.
func CheckName(name string) string { return memory.CheckName(name, memory.MaxInstructionName) }

// Publish adds the next version of an instruction. KindInvalid: see Check.
// KindConflict: the scope has too many active instructions, the text becomes too long, or ErrErasing. KindNotFound:
// there is no such proposal, or it was decided.
func (s *Service) Publish(ctx context.Context, scope memory.Scope, d Draft) (
	in memory.Instruction, v memory.InstructionVersion, err error,
) {
	if wrong := Check(d); len(wrong) > 0 {
		return in, v, memory.Invalid(wrong...)
	}
	err = s.records.InScope(ctx, scope, func(ctx context.Context, tx db.InstructionTx) error {
		in, _, err = tx.FindInstruction(ctx, d.Name)
		if err != nil {
			return err
		}
		in.Scope, in.Name = scope, d.Name
		in.ChangedAt = memory.Instant(s.now())
		v = memory.InstructionVersion{Content: d.Content, Note: d.Note, PublishedAt: in.ChangedAt, Grounds: d.Grounds}
		if d.Proposal != "" {
			if err := evolve(ctx, tx, in, d, &v); err != nil {
				return err
			}
		}
		in.Latest++
		v.Number = in.Latest
		if d.Activate {
			if err := activate(ctx, tx, &in, in.Latest); err != nil {
				return err
			}
		}
		if err := tx.PutInstruction(ctx, in); err != nil {
			return err
		}
		return tx.AddVersion(ctx, d.Name, v)
	})
	return in, v, err
}

// evolve makes a version of a proposal, and decides the proposal. What the active version led to, or without one the
// skill so far, is what the version is compared with.
func evolve(
	ctx context.Context, tx db.InstructionTx, in memory.Instruction, d Draft, v *memory.InstructionVersion,
) error {
	if err := tx.DecideInsight(ctx, d.Proposal); err != nil {
		return err
	}
	active, ok, err := tx.FindVersion(ctx, d.Name, in.Active)
	if err != nil {
		return err
	}
	if v.Before = active.After; v.Before == (memory.Outcomes{}) {
		if v.Before, err = tx.Outcomes(ctx, memory.InstructedSkill(d.Name)); err != nil {
			return err
		}
	}
	if !ok || !d.Append {
		return nil
	}
	v.Content = active.Content + "\n" + d.Content
	v.Grounds = slices.Concat(active.Grounds, d.Grounds)
	if why := memory.CheckContent(v.Content, memory.MaxInstruction); why != "" {
		return memory.Errorf(memory.KindConflict, "the instruction with this line %s: shorten its text first", why)
	}
	return nil
}

// Activate makes a version the active one. KindNotFound: it does not exist.
func (s *Service) Activate(ctx context.Context, scope memory.Scope, name string, version int,
) (memory.Instruction, error) {
	return s.change(ctx, scope, name, func(ctx context.Context, tx db.InstructionTx, in *memory.Instruction) error {
		if version < 1 || version > in.Latest {
			return memory.Errorf(memory.KindNotFound, "there is no version %d of this instruction: the latest is %d", version,
				in.Latest)
		}
		return activate(ctx, tx, in, version)
	})
}

// RollBack activates the version that was active before, and goes further back
// each time. KindConflict: no version was active before.
func (s *Service) RollBack(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error) {
	return s.change(ctx, scope, name, func(ctx context.Context, tx db.InstructionTx, in *memory.Instruction) error {
		last := len(in.PreviouslyActive) - 1
		if last < 0 {
			return memory.Errorf(memory.KindConflict, "no version was active before: activate one by its number")
		}
		if in.Active == 0 {
			if err := checkRoom(ctx, tx); err != nil {
				return err
			}
		}
		in.Active, in.PreviouslyActive = in.PreviouslyActive[last], in.PreviouslyActive[:last]
		return nil
	})
}

// Retire makes no version active. All versions stay readable and can be activated again.
func (s *Service) Retire(ctx context.Context, scope memory.Scope, name string) (memory.Instruction, error) {
	return s.change(ctx, scope, name, func(_ context.Context, _ db.InstructionTx, in *memory.Instruction) error {
		remember(in)
		in.Active = 0
		return nil
	})
}

// change changes the active version. It stores nothing if f changes nothing.
func (s *Service) change(ctx context.Context, scope memory.Scope, name string,
	f func(context.Context, db.InstructionTx, *memory.Instruction) error) (in memory.Instruction, err error) {
	err = s.records.InScope(ctx, scope, func(ctx context.Context, tx db.InstructionTx) (err error) {
		var ok bool
		if in, ok, err = tx.FindInstruction(ctx, name); err != nil {
			return err
		}
		if !ok {
			return memory.Errorf(memory.KindNotFound, "the scope has no instruction of this name: list them")
		}
		before := in.Active
		if err := f(ctx, tx, &in); err != nil || in.Active == before {
			return err
		}
		in.ChangedAt = memory.Instant(s.now())
		return tx.PutInstruction(ctx, in)
	})
	return in, err
}

func activate(ctx context.Context, tx db.InstructionTx, in *memory.Instruction, version int) error {
	if version == in.Active {
		return nil
	}
	if in.Active == 0 {
		if err := checkRoom(ctx, tx); err != nil {
			return err
		}
	}
	remember(in)
	in.Active = version
	return nil
}

// checkRoom returns a conflict if the scope may have no further active instruction.
func checkRoom(ctx context.Context, tx db.InstructionTx) error {
	n, err := tx.CountActive(ctx)
	if err == nil && n >= memory.MaxActiveInstructions {
		err = memory.Errorf(memory.KindConflict,
			"the scope has %d active instructions, and no more are allowed: retire one first", n)
	}
	return err
}

// remember adds the active version to the versions that RollBack returns to.
func remember(in *memory.Instruction) {
	if in.Active == 0 {
		return
	}
	in.PreviouslyActive = append(slices.Clone(in.PreviouslyActive), in.Active)
	in.PreviouslyActive = in.PreviouslyActive[max(0, len(in.PreviouslyActive)-memory.MaxPreviouslyActive):]
}

// Version returns a version of an instruction; 0: the active one. KindNotFound:
// it does not exist.
func (s *Service) Version(ctx context.Context, scope memory.Scope, name string, number int) (
	in memory.Instruction, v memory.InstructionVersion, err error,
) {
	if in, err = s.records.FindInstruction(ctx, scope, name); err != nil {
		return in, v, err
	}
	if number == 0 {
		if number = in.Active; number == 0 {
			return in, v, memory.Errorf(memory.KindNotFound,
				"no version of this instruction is active: name one of its %d versions", in.Latest)
		}
	}
	v, err = s.records.InstructionVersion(ctx, scope, name, number)
	return in, v, err
}

// Diff returns the difference between the texts of two versions in the unified
// format; "" if they are equal. KindNotFound: a version does not exist.
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

// Merged returns the instructions for the context of a user and an agent (may be
// empty): the farthest scope first, then by name. A name in a nearer scope
// replaces the same name in a farther one.
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
