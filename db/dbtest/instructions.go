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
	wholeApp   = memory.Scope{AppID: "app", Kind: memory.AppScope}
	agent      = memory.Scope{AppID: "app", Kind: memory.AgentScope, ID: "alice"} // also the id of a user
	aliceScope = memory.Scope{AppID: "app", Kind: memory.UserScope, ID: "alice"}
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
		i.Scope = scope
		i.Name = name
		i.ChangedAt = after(i.Latest)
		i.Latest++
		if i.Active > 0 {
			i.PreviouslyActive = append(i.PreviouslyActive, i.Active)
		}
		i.Active = i.Latest
		if err := tx.PutInstruction(ctx, i); err != nil {
			return err
		}
		return tx.AddVersion(ctx, name, textOf(i, content))
	})
}

// textOf returns the newest version of an instruction.
func textOf(i memory.Instruction, content string) memory.InstructionVersion {
	return memory.InstructionVersion{Number: i.Latest, Content: content, Note: "为什么 \"so\"", PublishedAt: i.ChangedAt}
}

func instructionVersions(t *testing.T, s db.Store) {
	ctx := t.Context()
	var want []memory.InstructionVersion // newest first
	var last memory.Instruction
	for n := range 5 {
		content := fmt.Sprint("line\n🍵 it's \\ ", n)
		last = publish(t, s, agent, "tone", content)
		want = append([]memory.InstructionVersion{textOf(last, content)}, want...)
	}
	wantSame(t, "instruction", last, memory.Instruction{
		Scope:            agent,
		Name:             "tone",
		Latest:           5,
		Active:           5,
		PreviouslyActive: []int{1, 2, 3, 4},
		ChangedAt:        after(4),
	})
	found, err := s.FindInstruction(ctx, agent, "tone")
	must(t, err)
	wantSame(t, "found", found, last)
	for _, limit := range []int{1, 2, 5, 100} {
		var got []memory.InstructionVersion
		for below := 0; ; {
			page, err := s.InstructionVersions(ctx, agent, "tone", below, limit)
			must(t, err)
			got = append(got, page...)
			if len(page) < limit {
				break
			}
			below = page[limit-1].Number
		}
		wantSame(t, "versions", got, want)
	}
	v, err := s.InstructionVersion(ctx, agent, "tone", 2)
	must(t, err)
	wantSame(t, "version", v, want[3])
	for _, number := range []int{0, -1, 6} {
		_, err = s.InstructionVersion(ctx, agent, "tone", number)
		wantKind(t, err, memory.KindNotFound)
	}
	for _, scope := range []memory.Scope{
		wholeApp,
		aliceScope,
		{AppID: "other", Kind: memory.AgentScope, ID: "alice"},
		{AppID: "app", Kind: memory.AgentScope, ID: "Alice"},
	} {
		_, err = s.FindInstruction(ctx, scope, "tone")
		wantKind(t, err, memory.KindNotFound)
		_, err = s.InstructionVersion(ctx, scope, "tone", 1)
		wantKind(t, err, memory.KindNotFound)
		list, err := s.ListInstructions(ctx, scope, "", 10)
		must(t, err)
		wantSame(t, "of another scope", list, []memory.Instruction{})
	}

	last.Active = 0
	last.PreviouslyActive = nil
	last.ChangedAt = after(9)
	must(t, s.InScope(ctx, agent, func(ctx context.Context, tx db.InstructionTx) error {
		n, err := tx.CountActive(ctx)
		must(t, err)
		wantSame(t, "active", n, 1)
		must(t, tx.PutInstruction(ctx, last))
		n, err = tx.CountActive(ctx)
		must(t, err)
		wantSame(t, "active", n, 0)
		return nil
	}))
	found, err = s.FindInstruction(ctx, agent, "tone")
	must(t, err)
	wantSame(t, "retired", found, last)
}

func listInstructions(t *testing.T, s db.Store) {
	var want []memory.Instruction
	for _, name := range []string{"B", "a", "b", "ä", "语气"} { // in byte order
		want = append(want, memory.Instruction{Name: name})
	}
	for _, n := range []int{3, 0, 4, 1, 2} {
		want[n] = publish(t, s, wholeApp, want[n].Name, "text")
	}
	publish(t, s, aliceScope, "c", "text")
	for _, limit := range []int{1, 2, 5, 100} {
		var got []memory.Instruction
		for after := ""; ; {
			page, err := s.ListInstructions(t.Context(), wholeApp, after, limit)
			must(t, err)
			got = append(got, page...)
			if len(page) < limit {
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
	for _, scope := range []memory.Scope{wholeApp, agent, aliceScope} {
		publish(t, s, scope, "b", "old")
		want = append(want, active(publish(t, s, scope, "a", "a text"), "a text"),
			active(publish(t, s, scope, "b", "new"), "new"))
	}
	publish(t, s, memory.Scope{AppID: "other", Kind: memory.AppScope}, "c", "another app's")
	publish(t, s, memory.Scope{AppID: "app", Kind: memory.UserScope, ID: "bob"}, "c", "another user's")
	retired := publish(t, s, wholeApp, "z", "retired")
	retired.Active = 0
	must(t, s.InScope(ctx, wholeApp, func(ctx context.Context, tx db.InstructionTx) error {
		return tx.PutInstruction(ctx, retired)
	}))
	for _, c := range []struct {
		agent, user string
		want        []memory.ActiveInstruction
	}{{"alice", "alice", want}, {"", "", want[:2]}, {"alice", "", want[:4]}, {"unknown", "unknown", want[:2]}} {
		got, err := s.ActiveInstructions(ctx, "app", c.agent, c.user)
		must(t, err)
		wantSame(t, fmt.Sprintf("active for agent %q and user %q", c.agent, c.user), got, c.want)
	}
}

// instructionLimits checks what the store refuses, and that a refusal changes nothing.
func instructionLimits(t *testing.T, s db.Store) {
	stored := publish(t, s, aliceScope, "tone", "text")
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
		"no name": {func(i *memory.Instruction, _ *memory.InstructionVersion) { i.Name = "" }, memory.KindInvalid},
		"a long name": {func(i *memory.Instruction, _ *memory.InstructionVersion) {
			i.Name = strings.Repeat("界", memory.MaxInstructionName+1)
		}, memory.KindInvalid},
		"an unknown active": {func(i *memory.Instruction, _ *memory.InstructionVersion) { i.Active = 3 }, memory.KindInvalid},
		"another scope": {
			func(i *memory.Instruction, _ *memory.InstructionVersion) { i.Scope = agent },
			memory.KindNotFound,
		},
	} {
		i, v := stored, textOf(stored, "text")
		i.Latest = 2
		i.Active = 2
		v.Number = 2
		c.spoil(&i, &v)
		err := s.InScope(t.Context(), aliceScope, func(ctx context.Context, tx db.InstructionTx) error {
			if err := tx.PutInstruction(ctx, i); err != nil {
				return err
			}
			return tx.AddVersion(ctx, "tone", v)
		})
		if !memory.IsKind(err, c.want) {
			t.Errorf("%s: %v, want kind %v", what, err, c.want)
		}
	}
	found, err := s.FindInstruction(t.Context(), aliceScope, "tone")
	must(t, err)
	wantSame(t, "the stored instruction", found, stored)
	longest := strings.Repeat("界", memory.MaxInstruction)
	publish(t, s, aliceScope, strings.Repeat("界", memory.MaxInstructionName), longest)
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
	if err := s.InScope(t.Context(), wholeApp, func(ctx context.Context, tx db.InstructionTx) error {
		must(t, tx.PutInstruction(ctx, memory.Instruction{Scope: wholeApp, Name: "x", Latest: 1, ChangedAt: epoch}))
		return refused
	}); !errors.Is(err, refused) {
		t.Error(err)
	}
	_, err = s.FindInstruction(t.Context(), wholeApp, "x")
	wantKind(t, err, memory.KindNotFound)
}

// instructionsAtOnce checks that concurrent writers publish consecutive versions.
func instructionsAtOnce(t *testing.T, s db.Store) {
	const writers, each = 8, 5
	scopes := []memory.Scope{wholeApp, agent, aliceScope}
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
			t.Errorf("instruction %+v has %d versions", i, len(found))
		}
	}
}

// everyInstruction calls each method of db.Instructions and returns their errors.
func everyInstruction(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	nothing := func(context.Context, db.InstructionTx) error { return nil }
	errs["InScope"] = s.InScope(ctx, wholeApp, nothing)
	errs["InScope of a user"] = s.InScope(ctx, aliceScope, nothing)
	_, errs["ListInstructions"] = s.ListInstructions(ctx, wholeApp, "", 1)
	_, errs["FindInstruction"] = s.FindInstruction(ctx, wholeApp, "x")
	_, errs["InstructionVersion"] = s.InstructionVersion(ctx, wholeApp, "x", 1)
	_, errs["InstructionVersions"] = s.InstructionVersions(ctx, wholeApp, "x", 0, 1)
	_, errs["ActiveInstructions"] = s.ActiveInstructions(ctx, "app", "agent", "user")
	return errs
}

// exerciseInstructions is Exercise for db.Instructions.
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
