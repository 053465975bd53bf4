package reflection

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

// proposing returns a service that proposes insights, with three facts and the proposal that rests on them.
func proposing(t *testing.T) (b *fixture, facts []memory.Memory, id string) {
	t.Helper()
	set := defaults
	set.Propose = true
	b = newFixture(t, set)
	facts = b.addFacts(3)
	b.chat.Answers(`{"insights":[{"insight":"Ada swam 10 lengths.","sources":[1,2,3]}],"retire":[1,2]}`)
	before := b.snapshot()
	result := b.reflect(true)
	if len(result.Insights)+len(result.Retired) > 0 || len(result.Proposed) != 1 {
		t.Fatalf("%+v", result)
	}
	after := b.snapshot()
	if diff := cmp.Diff(before[:len(before)-1], after[:len(after)-1]); diff != "" {
		t.Fatalf("a proposal has changed memories: %s", diff)
	}
	p := result.Proposed[0]
	if diff := cmp.Diff(ids(facts[:2]), p.Retires); diff != "" || p.Importance != 0.9 || len(p.Evidence) != 3 {
		t.Fatalf("%+v: %s", p, diff)
	}
	return b, facts, p.ID
}

// approve reads a proposal and approves it.
func (b *fixture) approve(id string) (derivation.Result, error) {
	p, err := b.derive.Proposed(b.t.Context(), ada.AppID, id)
	if err != nil {
		return derivation.Result{}, err
	}
	return b.derive.Approve(b.t.Context(), p)
}

// list returns the proposals about Ada.
func (b *fixture) list() []string {
	b.t.Helper()
	list, err := b.derive.List(b.t.Context(), db.ProposedFilter{AppID: ada.AppID, UserID: ada.UserID, Limit: 10})
	if err != nil {
		b.t.Fatal(err)
	}
	found := []string{}
	for _, p := range list {
		if len(p.Evidence) != len(p.Sources) {
			b.t.Errorf("%+v", p)
		}
		found = append(found, p.ID)
	}
	return found
}

func TestPropose_WaitsForApproval(t *testing.T) {
	t.Parallel()
	b, facts, id := proposing(t)
	if skipped := b.reflect(true).Skipped; skipped == "" {
		t.Error("the facts are considered again")
	}
	if diff := cmp.Diff([]string{id}, b.list()); diff != "" {
		t.Fatal(diff)
	}
	result, err := b.approve(id)
	if err != nil || len(result.Stored) != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	if diff := cmp.Diff(ids(facts[:2]), result.Retired); diff != "" {
		t.Error(diff)
	}
	insight := b.memory(result.Stored[0].ID)
	if insight.Type != memory.TypeReflection || insight.Content != "Ada swam 10 lengths." || insight.Importance != 0.9 {
		t.Errorf("%+v", insight)
	}
	if left := b.list(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if _, err := b.approve(id); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("approved twice: %v", err)
	}
	if _, restored, err := b.derive.Undo(t.Context(), ada.AppID, insight.ID); err != nil || len(restored) != 2 {
		t.Errorf("undo: %v, %v", restored, err)
	}
}

func TestPropose_CanBeRejected(t *testing.T) {
	t.Parallel()
	b, facts, id := proposing(t)
	if err := b.derive.Reject(t.Context(), "other", id); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("by another app: %v", err)
	}
	before := b.snapshot()
	if err := b.derive.Reject(t.Context(), ada.AppID, id); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, b.snapshot()); diff != "" || len(b.list()) > 0 {
		t.Errorf("%v, %s", b.list(), diff)
	}
	for _, err := range []error{
		b.derive.Reject(t.Context(), ada.AppID, id),
		b.derive.Reject(t.Context(), ada.AppID, facts[0].ID),
	} {
		if !memory.IsKind(err, memory.KindNotFound) {
			t.Error(err)
		}
	}
}

func TestPropose_FallsWithItsFacts(t *testing.T) {
	t.Parallel()
	b, facts, id := proposing(t)
	change := func(change func(*memory.Memory)) {
		t.Helper()
		m := b.memory(facts[0].ID)
		m.Revision++
		change(&m)
		if err := b.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
			return tx.Update(ctx, m)
		}); err != nil {
			t.Fatal(err)
		}
	}
	change(func(m *memory.Memory) { m.Status = memory.Forgotten })
	if left := b.list(); len(left) > 0 {
		t.Errorf("%v rests on a forgotten fact", left)
	}
	if _, err := b.approve(id); !memory.IsKind(err, memory.KindNotFound) {
		t.Errorf("approved on a forgotten fact: %v", err)
	}
	change(func(m *memory.Memory) { m.Status = memory.Active })
	for _, m := range facts {
		facts[0] = m
		change(func(m *memory.Memory) { m.Content = "Ada swam 33 lengths." })
	}
	if _, err := b.approve(id); !memory.IsKind(err, memory.KindConflict) {
		t.Errorf("approved although the facts say something else: %v", err)
	}
}

func TestPropose_IsApprovedOnce(t *testing.T) {
	t.Parallel()
	b, _, id := proposing(t)
	var approved atomic.Int32
	var approvers sync.WaitGroup
	for range 8 {
		approvers.Go(func() {
			_, err := b.approve(id)
			switch {
			case err == nil:
				approved.Add(1)
			case !memory.IsKind(err, memory.KindNotFound) && !memory.IsKind(err, memory.KindConflict):
				t.Error(err)
			}
		})
	}
	approvers.Wait()
	if n := approved.Load(); n != 1 {
		t.Errorf("approved %d times", n)
	}
}
