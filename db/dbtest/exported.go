package dbtest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// paged reads all pages of an export.
func paged[T any](t *testing.T, app, user string, limit int,
	read func(context.Context, db.Extent, *T) ([]T, error)) []T {
	t.Helper()
	all := []T{}
	for after := (*T)(nil); ; {
		page, err := read(t.Context(), db.Extent{AppID: app, UserID: user, Limit: limit}, after)
		must(t, err)
		all = append(all, page...)
		if len(page) < limit {
			return all
		}
		after = &page[len(page)-1]
	}
}

// exportedUsers are in byte order: capitals before small letters, other scripts
// last.
var exportedUsers = []string{"Zoe", "alice", "用户"}

// wantPaged compares exports of all users, one user and an unknown user, for
// several page sizes.
func wantPaged[T any](t *testing.T, read func(context.Context, db.Extent, *T) ([]T, error), want []T,
	user func(T) string) {
	t.Helper()
	alices := []T{}
	for _, item := range want {
		if user(item) == "alice" {
			alices = append(alices, item)
		}
	}
	for _, limit := range []int{1, 3, 500} {
		what := fmt.Sprintf("%d a page", limit)
		wantSame(t, what, paged(t, "app", "", limit, read), want)
		wantSame(t, "one user, "+what, paged(t, "app", "alice", limit, read), alices)
		wantSame(t, "unknown user", paged(t, "app", "unknown", limit, read), []T{})
	}
}

func exportFacts(t *testing.T, s db.Store) {
	var want []memory.Fact
	for _, user := range exportedUsers {
		var all []memory.Fact
		for n, key := range []string{"City", "city", "city", "city", "城市"} {
			f := newFact(memory.Owner{AppID: "app", UserID: user}, key, fmt.Sprint(n), after(n))
			f.ValidUntil = after(n + 1)
			if n == 2 || n == 3 { // recorded at the same instant
				f.RecordedAt = after(2)
			}
			if n == 4 {
				f.MemoryID = memory.NewID()
				f.EndsMemory = true
				f.Due = after(5)
			}
			all = append(all, f)
		}
		addFacts(t, s, all...)
		want = append(want, all...) // later ids are greater
	}
	addFacts(t, s, newFact(memory.Owner{AppID: "other", UserID: "alice"}, "city", "1", epoch))
	wantPaged(t, s.ExportFacts, want, func(f memory.Fact) string { return f.UserID })

	find := func(owner memory.Owner, id string, found bool) {
		t.Helper()
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			f, ok, err := tx.RecordedFact(ctx, id)
			if ok != found || found && f.ID != id {
				t.Errorf("%v: fact %s is found: %t", owner, id, ok)
			}
			return err
		}))
	}
	find(alice, want[5].ID, true)
	find(alice, want[0].ID, false)
	find(memory.Owner{AppID: "other", UserID: "alice"}, want[5].ID, false)
	find(alice, memory.NewID(), false)
}

func exportInstructions(t *testing.T, s db.Store) {
	var want []memory.Instruction
	add := func(kind memory.ScopeKind, id string) {
		for _, name := range []string{"Tone", "length", "语气"} {
			scope := memory.Scope{AppID: "app", Kind: kind, ID: id}
			publish(t, s, scope, name, "one")
			want = append(want, publish(t, s, scope, name, "two"))
		}
	}
	add(memory.AgentScope, "alice") // also the id of a user
	add(memory.AppScope, "")
	for _, user := range exportedUsers {
		add(memory.UserScope, user)
	}
	publish(t, s, memory.Scope{AppID: "other", Kind: memory.UserScope, ID: "alice"}, "tone", "warm")
	wantPaged(t, s.ExportInstructions, want, func(i memory.Instruction) string {
		if i.Kind != memory.UserScope {
			return ""
		}
		return i.Scope.ID
	})
	must(t, s.InScope(t.Context(), aliceScope, func(ctx context.Context, tx db.InstructionTx) error {
		v, ok, err := tx.FindVersion(ctx, "Tone", 2)
		must(t, err)
		wantSame(t, "version", v, textOf(memory.Instruction{Latest: 2, ChangedAt: after(1)}, "two"))
		_, third, err := tx.FindVersion(ctx, "Tone", 3)
		if !ok || third {
			t.Errorf("version 2 is found: %t, version 3: %t", ok, third)
		}
		return err
	}))
}

func exportSkills(t *testing.T, s db.Store) {
	var want []memory.Workflow
	var outcomes []db.CountedOutcome
	for _, user := range exportedUsers {
		owner := memory.Owner{AppID: "app", UserID: user}
		var all []memory.Workflow
		for n := range 6 {
			w := newWorkflow(owner, []string{"Deploy", "deploy", "发布"}[n/2], fmt.Sprint("way ", n), n, 1)
			if n == 3 {
				w.AgentID = "agent"
				w.Notes = nil
				w.MemoryID = ""
			}
			all = append(all, w)
		}
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			for n, w := range all {
				must(t, tx.RestoreWorkflow(ctx, w))
				must(t, tx.AddCounted(ctx, fmt.Sprint("run ", n), fmt.Sprint("hash ", n), after(n)))
				outcomes = append(outcomes, db.CountedOutcome{
					Owner: owner,
					ID:    fmt.Sprint("run ", n),
					Hash:  fmt.Sprint("hash ", n),
					At:    after(n),
				})
			}
			return nil
		}))
		slices.SortFunc(all, func(a, b memory.Workflow) int {
			x, y := sha256.Sum256([]byte(a.Text)), sha256.Sum256([]byte(b.Text))
			return cmp.Or(cmp.Compare(a.Skill, b.Skill), cmp.Compare(a.AgentID, b.AgentID), bytes.Compare(x[:], y[:]))
		})
		want = append(want, all...)
	}
	other := memory.Owner{AppID: "other", UserID: "alice"}
	putWorkflows(t, s, newWorkflow(other, "deploy", "way 0", 1, 0))
	must(t, s.InUser(t.Context(), other, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddCounted(ctx, "run 0", "x", epoch)
	}))
	wantPaged(t, s.ExportWorkflows, want, func(w memory.Workflow) string { return w.UserID })
	wantPaged(t, s.ExportOutcomes, outcomes, func(o db.CountedOutcome) string { return o.UserID })

	restore := func(w memory.Workflow) error {
		return s.InUser(t.Context(), w.Owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.RestoreWorkflow(ctx, w)
		})
	}
	again := newWorkflow(alice, "Deploy", "way 0", 1, 0)
	taken := want[0]
	theirs := newWorkflow(alice, "new", "new", 1, 0)
	wantKind(t, restore(again), memory.KindConflict) // another id, the same words
	taken.Text = "other words"
	wantKind(t, restore(taken), memory.KindConflict) // the same id
	theirs.ID = want[0].ID
	wantKind(t, restore(theirs), memory.KindConflict) // another user's id
	wantPaged(t, s.ExportWorkflows, want, func(w memory.Workflow) string { return w.UserID })
}

// everyExported calls each method that exports rows other than memories.
func everyExported(ctx context.Context, s db.Store) map[string]error {
	errs, of := map[string]error{}, db.Extent{AppID: "app", Limit: 1}
	_, errs["ExportFacts"] = s.ExportFacts(ctx, of, nil)
	_, errs["ExportInstructions"] = s.ExportInstructions(ctx, of, nil)
	_, errs["ExportWorkflows"] = s.ExportWorkflows(ctx, of, nil)
	_, errs["ExportOutcomes"] = s.ExportOutcomes(ctx, of, nil)
	_, errs["ExportFiles"] = s.ExportFiles(ctx, of, nil)
	_, errs["ExportFileVersions"] = s.ExportFileVersions(ctx, of, nil)
	_, errs["ExportConversations"] = s.ExportConversations(ctx, of, nil)
	return errs
}

// exerciseExported runs every statement that exports or restores rows other than
// memories.
func exerciseExported(t *testing.T, s db.Store, owner memory.Owner) {
	t.Helper()
	exerciseExportedConversations(t, s, owner)
	for _, user := range []string{"", owner.UserID} {
		paged(t, owner.AppID, user, 3, s.ExportFacts)
		paged(t, owner.AppID, user, 3, s.ExportInstructions)
		paged(t, owner.AppID, user, 3, s.ExportWorkflows)
		paged(t, owner.AppID, user, 3, s.ExportOutcomes)
		paged(t, owner.AppID, user, 3, s.ExportFiles)
		paged(t, owner.AppID, user, 3, s.ExportFileVersions)
	}
	must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		_, _, err := tx.RecordedFact(ctx, memory.NewID())
		must(t, err)
		return tx.RestoreWorkflow(ctx, newWorkflow(owner, "restored", "x", 1, 0))
	}))
	scope := memory.Scope{AppID: owner.AppID, Kind: memory.UserScope, ID: owner.UserID}
	must(t, s.InScope(t.Context(), scope, func(ctx context.Context, tx db.InstructionTx) error {
		_, _, err := tx.FindVersion(ctx, "one", 1)
		return err
	}))
}
