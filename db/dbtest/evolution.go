package dbtest

import (
	"context"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// evolved stores versions of alice's instructions; the last one of each name is active.
func evolved(t *testing.T, s db.Store, name string, versions ...memory.InstructionVersion) {
	t.Helper()
	must(t, s.InScope(t.Context(), aliceScope, func(ctx context.Context, tx db.InstructionTx) error {
		i := memory.Instruction{Scope: aliceScope, Name: name, Latest: len(versions), Active: len(versions), ChangedAt: epoch}
		for n, v := range versions {
			v.Number, v.PublishedAt = n+1, after(n)
			if err := tx.AddVersion(ctx, name, v); err != nil {
				return err
			}
			if n > 0 {
				i.PreviouslyActive = append(i.PreviouslyActive, n)
			}
		}
		return tx.PutInstruction(ctx, i)
	}))
}

// grounded is a version whose lines rest on a memory each; without one, on nothing.
func grounded(content string, grounds ...memory.Ground) memory.InstructionVersion {
	return memory.InstructionVersion{Content: content, Grounds: grounds}
}

// instructionLines leave all versions with what they rest on; outcomes are counted for active versions.
func instructionLines(t *testing.T, s db.Store) {
	ctx := t.Context()
	kept, lost, faded := newMemory(alice, "Be kind."), newMemory(alice, "Be brief."), newMemory(alice, "Use metres.")
	insert(t, s, epoch, kept, lost, faded)
	of := func(m memory.Memory) memory.Ground { return memory.Ground{Line: m.Content, Memories: []string{m.ID}} }
	evolved(t, s, "requests", grounded("Be brief.", of(lost)), grounded("Sing.\nBe brief.\nBe kind.", of(lost), of(kept)),
		grounded("Be kind.\nUse metres.", of(kept), of(faded)))
	evolved(t, s, "skill: x", grounded("Be brief.", of(lost)))
	content := func(name string, number int) string {
		t.Helper()
		v, err := s.InstructionVersion(ctx, aliceScope, name, number)
		must(t, err)
		return v.Content
	}
	remove := func(owner memory.Owner, ids ...string) {
		t.Helper()
		must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error { return tx.RemoveLines(ctx, ids) }))
	}
	lostGrounds := func(owner memory.Owner) []string {
		t.Helper()
		ids, err := s.LostGrounds(ctx, owner)
		must(t, err)
		return ids
	}
	wantSame(t, "lost while all hold", len(lostGrounds(alice)), 0)
	faded.Status, faded.Faded, faded.Revision = memory.Forgotten, true, 2
	lost.Status, lost.Revision = memory.Forgotten, 2
	update(t, s, faded, lost)
	wantSame(t, "lost", lostGrounds(alice), []string{lost.ID})
	wantSame(t, "lost of another user", len(lostGrounds(bob)), 0)

	remove(bob, lost.ID)
	wantSame(t, "by another user", content("skill: x", 1), "Be brief.")
	remove(alice, lost.ID, memory.NewID(), "no id")
	wantSame(t, "without its line", content("requests", 2), "Sing.\nBe kind.")
	wantSame(t, "without lines", content("requests", 1)+content("skill: x", 1), "[removed][removed]")
	wantSame(t, "without a change", content("requests", 3), "Be kind.\nUse metres.")
	i, err := s.FindInstruction(ctx, aliceScope, "requests")
	must(t, err)
	wantSame(t, "active", []any{i.Active, i.PreviouslyActive}, []any{3, []int{2}})
	i, err = s.FindInstruction(ctx, aliceScope, "skill: x")
	must(t, err)
	wantSame(t, "withdrawn", i.Active, 0)
	wantSame(t, "lost after the removal", len(lostGrounds(alice)), 0)

	count := func(success bool) (versions []int) {
		t.Helper()
		must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
			found, err := tx.CountOutcome(ctx, []string{"requests", "skill: x", "other"}, success)
			versions = nil
			for _, v := range found {
				versions = append(versions, v.Number)
			}
			return err
		}))
		return versions
	}
	count(true)
	count(true)
	wantSame(t, "counted for", count(false), []int{3})
	v, err := s.InstructionVersion(ctx, aliceScope, "requests", 3)
	must(t, err)
	wantSame(t, "outcomes", []memory.Outcomes{v.Before, v.After}, []memory.Outcomes{{}, {Successes: 2, Failures: 1}})
	w := memory.Workflow{
		ID: memory.NewID(), Owner: alice, Skill: "x", Text: "y", Successes: 3, Failures: 4, FirstAt: epoch, LastAt: epoch,
	}
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error { return tx.PutWorkflow(ctx, w) }))
	must(t, s.InScope(ctx, aliceScope, func(ctx context.Context, tx db.InstructionTx) error {
		all := memory.Outcomes{Successes: 3, Failures: 4}
		for skill, want := range map[string]memory.Outcomes{"": all, "x": all, "z": {}} {
			have, err := tx.Outcomes(ctx, skill)
			if err != nil {
				return err
			}
			wantSame(t, "outcomes of "+skill, have, want)
		}
		return nil
	}))
}

// proposedInstructions stay after their decision, hidden, and stand while their sources are active or condensed.
func proposedInstructions(t *testing.T, s db.Store) {
	ctx := t.Context()
	m := newMemory(alice, "Be brief.")
	insert(t, s, epoch, m)
	p := db.ProposedInsight{
		ID: memory.NewID(), Owner: alice, Content: m.Content, Domain: memory.Preferences, Importance: 0.8,
		Sources: []string{m.ID}, ProposedAt: after(1), Instruction: "requests", Basis: 1 << 40,
		Grounds: []memory.Ground{{Line: m.Content, Memories: []string{m.ID}}},
	}
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.ProposeInsights(ctx, []db.ProposedInsight{p})
	}))
	list := func(all bool) []db.ProposedInsight {
		t.Helper()
		found, err := s.ListProposedInsights(ctx, db.ProposedFilter{AppID: "app", UserID: "alice", Limit: 10, All: all})
		must(t, err)
		return found
	}
	m.Status, m.Revision = memory.Consolidated, 2
	update(t, s, m)
	wantSame(t, "of a condensed memory", list(false), []db.ProposedInsight{p})
	decide := func() error {
		return s.InScope(ctx, aliceScope, func(ctx context.Context, tx db.InstructionTx) error {
			return tx.DecideInsight(ctx, p.ID)
		})
	}
	must(t, decide())
	if err := decide(); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("decided twice: %v", err)
	}
	wantSame(t, "decided", len(list(false)), 0)
	p.Decided = true
	wantSame(t, "all", list(true), []db.ProposedInsight{p})
}

// exerciseEvolution runs the queries of instructions that evolve.
func exerciseEvolution(t *testing.T, s db.Store, owner memory.Owner, sources []string) {
	t.Helper()
	ctx := t.Context()
	scope := memory.Scope{AppID: owner.AppID, Kind: memory.UserScope, ID: owner.UserID}
	must(t, s.InScope(ctx, scope, func(ctx context.Context, tx db.InstructionTx) error {
		if _, err := tx.Outcomes(ctx, "x"); err != nil {
			return err
		}
		_, err := tx.Outcomes(ctx, "")
		return err
	}))
	_, err := s.LostGrounds(ctx, owner)
	must(t, err)
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		if _, err := tx.CountOutcome(ctx, []string{"evolved"}, true); err != nil {
			return err
		}
		return tx.RemoveLines(ctx, sources)
	}))
	_, err = s.ListProposedInsights(ctx, db.ProposedFilter{AppID: owner.AppID, UserID: owner.UserID, Limit: 5, All: true})
	must(t, err)
}
