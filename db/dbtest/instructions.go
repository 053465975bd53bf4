package dbtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

var (
	everybody = memory.Scope{AppID: "app", Kind: memory.AppScope}
	butler    = memory.Scope{AppID: "app", Kind: memory.AgentScope, ID: "alice"} // the id of a user, too
	hers      = memory.Scope{AppID: "app", Kind: memory.UserScope, ID: "alice"}
)

// publish stores the next version of an instruction and makes it active.
func publish(t *testing.T, s db.Store, scope memory.Scope, name, content string) memory.Instruction {
	t.Helper()
	i, err := tryPublish(t, s, scope, name, content)
	must(t, err)
	return i
}

func tryPublish(t *testing.T, s db.Store, scope memory.Scope, name, content string) (i memory.Instruction, err error) {
	return i, s.InScope(t.Context(), scope, func(ctx context.Context, tx db.InstructionTx) error {
		if i, _, err = tx.FindInstruction(ctx, name); err != nil {
			return err
		}
		i.Scope, i.Name, i.ChangedAt = scope, name, after(i.Latest)
		if i.Latest++; i.Active > 0 {
			i.PreviouslyActive = append(i.PreviouslyActive, i.Active)
		}
		i.Active = i.Latest
		if err := tx.PutInstruction(ctx, i); err != nil {
			return err
		}
		return tx.AddVersion(ctx, name, textOf(i, content))
	})
}

// textOf is the newest version of an instruction.
func textOf(i memory.Instruction, content string) memory.InstructionVersion {
	return memory.InstructionVersion{Number: i.Latest, Content: content, Note: "为什么 \"so\"", PublishedAt: i.ChangedAt}
}

func instructionVersions(t *testing.T, s db.Store) {
	ctx := t.Context()
	var want []memory.InstructionVersion // newest first
	var last memory.Instruction
	for n := range 5 {
		content := fmt.Sprint("line\n🍵 it's \\ ", n)
		last = publish(t, s, butler, "tone", content)
		want = append([]memory.InstructionVersion{textOf(last, content)}, want...)
	}
	wantSame(t, "instruction", last, memory.Instruction{
		Scope:            butler,
		Name:             "tone",
		Latest:           5,
		Active:           5,
		PreviouslyActive: []int{1, 2, 3, 4},
		ChangedAt:        after(4),
	})
	found, err := s.FindInstruction(ctx, butler, "tone")
	must(t, err)
	wantSame(t, "found", found, last)
	for _, limit := range []int{1, 2, 5, 100} {
		var got []memory.InstructionVersion
		for below := 0; ; {
			page, err := s.InstructionVersions(ctx, butler, "tone", below, limit)
			must(t, err)
			if got = append(got, page...); len(page) < limit {
				break
			}
			below = page[limit-1].Number
		}
		wantSame(t, "versions", got, want)
	}
	v, err := s.InstructionVersion(ctx, butler, "tone", 2)
	must(t, err)
	wantSame(t, "version", v, want[3])
	for _, number := range []int{0, -1, 6} {
		_, err = s.InstructionVersion(ctx, butler, "tone", number)
		wantKind(t, err, memory.KindNotFound)
	}
	for _, scope := range []memory.Scope{
		everybody,
		hers,
		{AppID: "other", Kind: memory.AgentScope, ID: "alice"},
		{AppID: "app", Kind: memory.AgentScope, ID: "Alice"},
	} {
		_, err = s.FindInstruction(ctx, scope, "tone")
		wantKind(t, err, memory.KindNotFound)
		_, err = s.InstructionVersion(ctx, scope, "tone", 1)
		wantKind(t, err, memory.KindNotFound)
		list, err := s.ListInstructions(ctx, scope, "", 10)
		must(t, err)
		wantSame(t, "another scope's", list, []memory.Instruction{})
	}

	last.Active, last.PreviouslyActive, last.ChangedAt = 0, nil, after(9)
	must(t, s.InScope(ctx, butler, func(ctx context.Context, tx db.InstructionTx) error {
		n, err := tx.CountActive(ctx)
		must(t, err)
		wantSame(t, "active", n, 1)
		must(t, tx.PutInstruction(ctx, last))
		n, err = tx.CountActive(ctx)
		must(t, err)
		wantSame(t, "active", n, 0)
		return nil
	}))
	found, err = s.FindInstruction(ctx, butler, "tone")
	must(t, err)
	wantSame(t, "retired", found, last)
}

func listInstructions(t *testing.T, s db.Store) {
	var want []memory.Instruction
	for _, name := range []string{"B", "a", "b", "ä", "语气"} { // in the order of their bytes
		want = append(want, memory.Instruction{Name: name})
	}
	for _, n := range []int{3, 0, 4, 1, 2} {
		want[n] = publish(t, s, everybody, want[n].Name, "text")
	}
	publish(t, s, hers, "c", "text")
	for _, limit := range []int{1, 2, 5, 100} {
		var got []memory.Instruction
		for after := ""; ; {
			page, err := s.ListInstructions(t.Context(), everybody, after, limit)
			must(t, err)
			if got = append(got, page...); len(page) < limit {
				break
			}
			after = page[limit-1].Name
		}
		wantSame(t, "list", got, want)
	}
}

func activeInstructions(t *testing.T, s db.Store) {
	ctx := t.Context()
	active := func(i memory.Instruction, content string) memory.ActiveInstruction {
		return memory.ActiveInstruction{Scope: i.Scope, Name: i.Name, InstructionVersion: textOf(i, content)}
	}
	var want []memory.ActiveInstruction
	for _, scope := range []memory.Scope{everybody, butler, hers} {
		publish(t, s, scope, "b", "old")
		want = append(want, active(publish(t, s, scope, "a", "a text"), "a text"),
			active(publish(t, s, scope, "b", "new"), "new"))
	}
	publish(t, s, memory.Scope{AppID: "other", Kind: memory.AppScope}, "c", "another app's")
	publish(t, s, memory.Scope{AppID: "app", Kind: memory.UserScope, ID: "bob"}, "c", "another user's")
	retired := publish(t, s, everybody, "z", "retired")
	retired.Active = 0
	must(t, s.InScope(ctx, everybody, func(ctx context.Context, tx db.InstructionTx) error {
		return tx.PutInstruction(ctx, retired)
	}))
	for _, c := range []struct {
		agent, user string
		want        []memory.ActiveInstruction
	}{{"alice", "alice", want}, {"", "", want[:2]}, {"alice", "", want[:4]}, {"nobody", "nobody", want[:2]}} {
		got, err := s.ActiveInstructions(ctx, "app", c.agent, c.user)
		must(t, err)
		wantSame(t, fmt.Sprintf("of agent %q and user %q", c.agent, c.user), got, c.want)
	}
}

// instructionLimits: what the stores refuse, and that a refusal leaves nothing.
func instructionLimits(t *testing.T, s db.Store) {
	standing := publish(t, s, hers, "tone", "text")
	for what, c := range map[string]struct {
		spoil func(*memory.Instruction, *memory.InstructionVersion)
		want  memory.Kind
	}{
		"the same version": {func(_ *memory.Instruction, v *memory.InstructionVersion) { v.Number = 1 }, memory.KindConflict},
		"no version":       {func(_ *memory.Instruction, v *memory.InstructionVersion) { v.Number = 0 }, memory.KindInvalid},
		"no content": {
			func(_ *memory.Instruction, v *memory.InstructionVersion) { v.Content = "" },
			memory.KindInvalid,
		},
		"a long content": {func(_ *memory.Instruction, v *memory.InstructionVersion) {
			v.Content = strings.Repeat("界", memory.MaxInstruction+1)
		}, memory.KindInvalid},
		"a long note": {func(_ *memory.Instruction, v *memory.InstructionVersion) {
			v.Note = strings.Repeat("界", memory.MaxNote+1)
		}, memory.KindInvalid},
		"a name": {func(i *memory.Instruction, _ *memory.InstructionVersion) { i.Name = "" }, memory.KindInvalid},
		"a long name": {func(i *memory.Instruction, _ *memory.InstructionVersion) {
			i.Name = strings.Repeat("界", memory.MaxInstructionName+1)
		}, memory.KindInvalid},
		"an unknown active": {func(i *memory.Instruction, _ *memory.InstructionVersion) { i.Active = 3 }, memory.KindInvalid},
		"another scope": {
			func(i *memory.Instruction, _ *memory.InstructionVersion) { i.Scope = butler },
			memory.KindNotFound,
		},
	} {
		i, v := standing, textOf(standing, "text")
		i.Latest, i.Active, v.Number = 2, 2, 2
		c.spoil(&i, &v)
		err := s.InScope(t.Context(), hers, func(ctx context.Context, tx db.InstructionTx) error {
			if err := tx.PutInstruction(ctx, i); err != nil {
				return err
			}
			return tx.AddVersion(ctx, "tone", v)
		})
		if !memory.IsKind(err, c.want) {
			t.Errorf("%s: %v, want kind %v", what, err, c.want)
		}
	}
	found, err := s.FindInstruction(t.Context(), hers, "tone")
	must(t, err)
	wantSame(t, "what stood", found, standing)
	longest := strings.Repeat("界", memory.MaxInstruction)
	publish(t, s, hers, strings.Repeat("界", memory.MaxInstructionName), longest)
	wantKind(t, s.InScope(t.Context(), memory.Scope{AppID: "app", Kind: "room", ID: "1"},
		func(ctx context.Context, tx db.InstructionTx) error {
			return tx.PutInstruction(ctx, memory.Instruction{
				Scope:     memory.Scope{AppID: "app", Kind: "room", ID: "1"},
				Name:      "x",
				Latest:    1,
				ChangedAt: epoch,
			})
		}), memory.KindInvalid)
	refused := errors.New("refused")
	if err := s.InScope(t.Context(), everybody, func(ctx context.Context, tx db.InstructionTx) error {
		must(t, tx.PutInstruction(ctx, memory.Instruction{Scope: everybody, Name: "x", Latest: 1, ChangedAt: epoch}))
		return refused
	}); !errors.Is(err, refused) {
		t.Error(err)
	}
	_, err = s.FindInstruction(t.Context(), everybody, "x")
	wantKind(t, err, memory.KindNotFound)
}

// instructionsAtOnce: versions of each scope follow each other, whoever publishes.
func instructionsAtOnce(t *testing.T, s db.Store) {
	const writers, each = 8, 5
	scopes := []memory.Scope{everybody, butler, hers}
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := range each {
				for _, scope := range scopes {
					if _, err := tryPublish(t, s, scope, "tone", fmt.Sprint(w, "/", n)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	for _, scope := range scopes {
		i, err := s.FindInstruction(t.Context(), scope, "tone")
		must(t, err)
		found, err := s.InstructionVersions(t.Context(), scope, "tone", 0, memory.MaxPage)
		must(t, err)
		if i.Latest != writers*each || i.Active != i.Latest || len(i.PreviouslyActive) != i.Latest-1 ||
			len(found) != i.Latest || found[0].Number != i.Latest {
			t.Errorf("%+v, %d versions", i, len(found))
		}
	}
}

// everyInstruction calls every method.
func everyInstruction(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	nothing := func(context.Context, db.InstructionTx) error { return nil }
	errs["InScope"] = s.InScope(ctx, everybody, nothing)
	errs["InScope of a user"] = s.InScope(ctx, hers, nothing)
	_, errs["ListInstructions"] = s.ListInstructions(ctx, everybody, "", 1)
	_, errs["FindInstruction"] = s.FindInstruction(ctx, everybody, "x")
	_, errs["InstructionVersion"] = s.InstructionVersion(ctx, everybody, "x", 1)
	_, errs["InstructionVersions"] = s.InstructionVersions(ctx, everybody, "x", 0, 1)
	_, errs["ActiveInstructions"] = s.ActiveInstructions(ctx, "app", "agent", "user")
	return errs
}

// exerciseInstructions runs every statement.
func exerciseInstructions(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	for _, scope := range []memory.Scope{
		{AppID: owner.AppID, Kind: memory.AgentScope, ID: "agent"},
		{AppID: owner.AppID, Kind: memory.UserScope, ID: owner.UserID},
	} {
		publish(t, s, scope, "one", "text")
		must(t, s.InScope(t.Context(), scope, func(ctx context.Context, tx db.InstructionTx) error {
			_, err := tx.CountActive(ctx)
			return err
		}))
		_, err := s.InstructionVersions(t.Context(), scope, "one", 2, 5)
		must(t, err)
	}
}
