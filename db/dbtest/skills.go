package dbtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// newWorkflow returns a workflow with every field set.
func newWorkflow(owner memory.Owner, skill, text string, successes, failures int) memory.Workflow {
	return memory.Workflow{
		ID: memory.NewID(), Owner: owner, Skill: skill, Text: text, Successes: successes, Failures: failures,
		Notes: []memory.OutcomeNote{
			{At: after(3), Success: true, Note: "很好 \"fine\" <b>"},
			{At: after(4), Note: "\\ it's"},
		},
		MemoryID: memory.NewID(), FirstAt: epoch, LastAt: after(4),
	}
}

// putWorkflows stores workflows of one owner.
func putWorkflows(t *testing.T, s db.Store, workflows ...memory.Workflow) {
	t.Helper()
	must(t, s.InUser(t.Context(), workflows[0].Owner, func(ctx context.Context, tx db.UserTx) error {
		for _, w := range workflows {
			if err := tx.PutWorkflow(ctx, w); err != nil {
				return err
			}
		}
		return nil
	}))
}

func workflowRoundTrip(t *testing.T, s db.Store) {
	shared, private := newWorkflow(alice, "deploy", "make 发布 🚀", 2, 1), newWorkflow(alice, "deploy", "make 发布 🚀", 0, 3)
	private.AgentID = "agent"
	private.MemoryID = ""
	private.Notes = nil
	putWorkflows(t, s, shared, private)
	changed := shared
	changed.Successes = 3
	changed.Failures = 2
	changed.Notes = changed.Notes[1:]
	changed.MemoryID = ""
	changed.LastAt = after(5)
	ignored := changed
	ignored.Skill = "x"
	ignored.Text = "x"
	ignored.AgentID = "x"
	ignored.FirstAt = after(9)
	putWorkflows(t, s, ignored)
	find := func(owner memory.Owner, agent, skill, text string, want ...memory.Workflow) {
		t.Helper()
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			got, ok, err := tx.Workflow(ctx, agent, skill, text)
			if ok {
				wantSame(t, "found", []memory.Workflow{got}, want)
			} else if len(want) > 0 {
				t.Errorf("%s's %s: %s is not found", agent, skill, text)
			}
			return err
		}))
	}
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	find(alice, "", "deploy", shared.Text, changed)
	find(alice, "agent", "deploy", shared.Text, private)
	find(alice, "other", "deploy", shared.Text)
	find(alice, "", "Deploy", shared.Text)
	find(alice, "", "deploy", "Make 发布 🚀")
	find(bob, "", "deploy", shared.Text)

	put := func(owner memory.Owner, w memory.Workflow) error {
		return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error { return tx.PutWorkflow(ctx, w) })
	}
	wantKind(t, put(bob, changed), memory.KindNotFound)
	stolen := changed
	stolen.Owner, stolen.Successes = bob, 99
	must(t, put(bob, stolen)) // the id is alice's: no effect
	find(alice, "", "deploy", shared.Text, changed)
	for what, c := range map[string]struct {
		spoil func(*memory.Workflow)
		want  memory.Kind
	}{
		"the same again":    {func(w *memory.Workflow) { w.Text = shared.Text }, memory.KindConflict},
		"no id":             {func(w *memory.Workflow) { w.ID = "7" }, memory.KindInvalid},
		"no memory id":      {func(w *memory.Workflow) { w.MemoryID = "7" }, memory.KindInvalid},
		"no outcome":        {func(w *memory.Workflow) { w.Successes, w.Failures = 0, 0 }, memory.KindInvalid},
		"negative failures": {func(w *memory.Workflow) { w.Failures = -1 }, memory.KindInvalid},
		"no name":           {func(w *memory.Workflow) { w.Skill = "" }, memory.KindInvalid},
		"a long name": {
			func(w *memory.Workflow) { w.Skill = strings.Repeat("界", memory.MaxSkillName+1) },
			memory.KindInvalid,
		},
		"no text": {func(w *memory.Workflow) { w.Text = "" }, memory.KindInvalid},
		"a long text": {
			func(w *memory.Workflow) { w.Text = strings.Repeat("界", memory.MaxContentRunes+1) },
			memory.KindInvalid,
		},
		"a long agent": {
			func(w *memory.Workflow) { w.AgentID = strings.Repeat("x", memory.MaxIDBytes+1) },
			memory.KindInvalid,
		},
	} {
		w := newWorkflow(alice, "deploy", "another", 1, 1)
		c.spoil(&w)
		if err := put(alice, w); !memory.IsKind(err, c.want) {
			t.Errorf("%s: %v, want kind %v", what, err, c.want)
		}
	}
	must(t, put(alice,
		newWorkflow(alice, strings.Repeat("界", memory.MaxSkillName), strings.Repeat("界", memory.MaxContentRunes), 1, 1)))
}

func listSkills(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	all := []memory.Workflow{ // of one skill, best first
		newWorkflow(alice, "deploy", "9 of 10", 9, 1), newWorkflow(alice, "deploy", "1 of 1", 1, 0),
		newWorkflow(alice, "deploy", "2 of 4", 2, 2),
		newWorkflow(alice, "deploy", "1 of 2", 1, 1), newWorkflow(alice, "deploy", "1 of 2 again", 1, 1),
		newWorkflow(alice, "deploy", "0 of 1", 0, 1),
	}
	all[1].AgentID = "one"
	all[2].AgentID = "two"
	all[5].LastAt = after(50)
	others := []memory.Workflow{
		newWorkflow(alice, "Deploy", "x", 1, 0), newWorkflow(alice, "浇水", "x", 1, 2), newWorkflow(alice, "浇水", "y", 0, 1),
	}
	others[2].AgentID = "two"
	putWorkflows(t, s, append(append([]memory.Workflow{all[4], all[0], all[3]}, all[1], all[2], all[5]), others...)...)
	putWorkflows(t, s, newWorkflow(bob, "deploy", "bob's", 1, 0))

	var order []string
	for _, c := range []struct {
		agent string
		limit int
		want  []memory.Workflow
	}{
		{"", 100, all},
		{"", 2, all[:2]},
		{"one", 100, append(append([]memory.Workflow{}, all[:2]...), all[3:]...)},
		{"unknown", 1, all[:1]},
	} {
		got, err := s.Workflows(t.Context(), db.SkillFilter{Owner: alice, AgentID: c.agent, Limit: c.limit}, "deploy")
		must(t, err)
		wantSame(t, "workflows of "+c.agent, got, c.want)
		order = append(order, got[0].Text)
	}
	wantSame(t, "the best", order, []string{"9 of 10", "9 of 10", "9 of 10", "9 of 10"})
	if found, err := s.Workflows(t.Context(), db.SkillFilter{Owner: alice, Limit: 5}, "deplo"); err != nil ||
		len(found) != 0 {
		t.Errorf("workflows of an unknown skill: %v, %v", found, err)
	}
	for agent, want := range map[string][]memory.Skill{
		"": {
			{Name: "Deploy", Workflows: 1, Successes: 1, LastAt: after(4)},
			{Name: "deploy", Workflows: 6, Successes: 14, Failures: 6, LastAt: after(50)},
			{Name: "浇水", Workflows: 2, Successes: 1, Failures: 3, LastAt: after(4)},
		},
		"one": {
			{Name: "Deploy", Workflows: 1, Successes: 1, LastAt: after(4)},
			{Name: "deploy", Workflows: 5, Successes: 12, Failures: 4, LastAt: after(50)},
			{Name: "浇水", Workflows: 1, Successes: 1, Failures: 2, LastAt: after(4)},
		},
	} {
		for _, limit := range []int{1, 2, 3, 100} {
			var got []memory.Skill
			f := db.SkillFilter{Owner: alice, AgentID: agent, Limit: limit}
			for {
				page, err := s.ListSkills(t.Context(), f)
				must(t, err)
				got = append(got, page...)
				if len(page) < limit {
					break
				}
				f.After = page[limit-1].Name
			}
			wantSame(t, fmt.Sprintf("skills of agent %q", agent), got, want)
		}
	}
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		n, err := tx.CountWorkflows(ctx, "deploy")
		wantSame(t, "workflows of any agent", n, 6)
		return err
	}))
}

func countedOutcomes(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	add := func(owner memory.Owner, id, hash string) error {
		return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.AddCounted(ctx, id, hash, epoch)
		})
	}
	must(t, add(alice, "one", "a"))
	must(t, add(bob, "one", "b"))
	wantKind(t, add(alice, "one", "c"), memory.KindConflict)
	wantKind(t, add(alice, "", "c"), memory.KindInvalid)
	for owner, want := range map[memory.Owner]string{alice: "a", bob: "b", {AppID: "other", UserID: "alice"}: ""} {
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			hash, ok, err := tx.Counted(ctx, "one")
			if hash != want || ok != (want != "") {
				t.Errorf("outcome of %v: hash %q, ok %t", owner, hash, ok)
			}
			return err
		}))
	}
}

// everySkill calls each method of db.Skills and returns their errors.
func everySkill(ctx context.Context, s db.Store) map[string]error {
	errs := map[string]error{}
	_, errs["ListSkills"] = s.ListSkills(ctx, db.SkillFilter{Owner: alice, Limit: 1})
	_, errs["Workflows"] = s.Workflows(ctx, db.SkillFilter{Owner: alice, Limit: 1}, "deploy")
	return errs
}

// exerciseSkills is Exercise for db.Skills.
func exerciseSkills(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	for _, agent := range []string{"", "agent"} {
		f := db.SkillFilter{Owner: owner, AgentID: agent, Limit: 5, After: "a"}
		_, err := s.ListSkills(t.Context(), f)
		must(t, err)
		_, err = s.Workflows(t.Context(), f, "deploy")
		must(t, err)
	}
	must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		_, _, err := tx.Workflow(ctx, "", "deploy", "x")
		must(t, err)
		_, err = tx.CountWorkflows(ctx, "deploy")
		must(t, err)
		must(t, tx.PutWorkflow(ctx, newWorkflow(owner, "deploy", "x", 1, 0)))
		_, _, err = tx.Counted(ctx, "one")
		must(t, err)
		return tx.AddCounted(ctx, "one", "hash", epoch)
	}))
}

// loadProcedures gives an owner 20 instructions, workflows and outcomes.
func loadProcedures(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	for n := range 20 {
		publish(t, s, memory.Scope{
			AppID: owner.AppID,
			Kind:  memory.UserScope,
			ID:    owner.UserID,
		}, fmt.Sprint("instruction ", n), "text")
	}
	must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		for n := range 20 {
			must(t, tx.PutWorkflow(ctx, newWorkflow(owner, fmt.Sprint("skill ", n/4), fmt.Sprint(n), n, 1)))
			must(t, tx.AddCounted(ctx, fmt.Sprint(n), "hash", epoch))
		}
		return nil
	}))
}

// fillProcedures is fill for instructions and skills.
func fillProcedures(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	scope := memory.Scope{AppID: owner.AppID, Kind: memory.UserScope, ID: owner.UserID}
	publish(t, s, scope, "tone", "warm")
	publish(t, s, scope, "tone", "cold")
	publish(t, s, scope, "length", "short")
	putWorkflows(t, s, newWorkflow(owner, "deploy", "one", 1, 0), newWorkflow(owner, "deploy", "two", 0, 1))
	must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddCounted(ctx, "1", "hash", epoch)
	}))
}

// proceduresOf renders the instructions and skills of an owner.
func proceduresOf(t *testing.T, s db.Store, owner memory.Owner) string {
	t.Helper()
	instructions, err := s.ListInstructions(t.Context(), memory.Scope{
		AppID: owner.AppID,
		Kind:  memory.UserScope,
		ID:    owner.UserID,
	}, "", 100)
	must(t, err)
	skills, err := s.ListSkills(t.Context(), db.SkillFilter{Owner: owner, Limit: 100})
	must(t, err)
	return fmt.Sprint(instructions, skills)
}
