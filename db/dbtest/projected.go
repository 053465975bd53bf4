package dbtest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func projected(t *testing.T, s db.Store) {
	var all []memory.Memory
	for i := range 12 {
		m := newMemory(memory.Owner{AppID: []string{"app", "other"}[i%2], UserID: describe(i % 3)}, describe(i))
		m.Status = memory.Statuses[i%4]
		insert(t, s, time.Time{}, m)
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b memory.Memory) int { return cmp.Compare(a.ID, b.ID) })
	for _, limit := range []int{1, 5, 12, 100} {
		var got []db.Projected
		for after := ""; ; {
			page, err := s.Projected(t.Context(), after, limit)
			must(t, err)
			got = append(got, page...)
			if len(page) < limit {
				break
			}
			after = page[limit-1].Memory.ID
		}
		var want []db.Projected
		for _, m := range all {
			want = append(want, db.Projected{Memory: projectedFields(m), Vector: memory.VectorPending, UpdatedAt: epoch})
		}
		wantSame(t, "projected", got, want)
	}
}

// projectedFields returns m without the fields that a projection check does not need.
func projectedFields(m memory.Memory) memory.Memory {
	m.Embedding, m.Lexemes = nil, ""
	return m
}

// wantProjected checks the only memory of the store.
func wantProjected(t *testing.T, s db.Store, m memory.Memory, state memory.VectorState, updatedAt time.Time) {
	t.Helper()
	got, err := s.Projected(t.Context(), "", 10)
	must(t, err)
	wantSame(t, "projected", got, []db.Projected{{Memory: projectedFields(m), Vector: state, UpdatedAt: updatedAt}})
}

func requeue(t *testing.T, s db.Store) {
	m := newMemory(alice, "wording")
	m.UpdatedAt = after(5)
	insert(t, s, after(30), m)
	again := func(at int, ids ...string) {
		t.Helper()
		n, err := s.Requeue(t.Context(), append(ids, memory.NewID(), "no id", ""), after(at))
		must(t, err)
		wantSame(t, "requeued", n, len(ids))
	}
	wantProjected(t, s, m, memory.VectorPending, after(30)) // the claim
	push := []db.VectorTask{{Memory: m, Claim: 1}}
	must(t, s.FinishVectors(t.Context(), push, after(31)))
	wantProjected(t, s, m, memory.VectorSynced, after(31)) // the confirmation
	again(40)

	again(50, m.ID)
	wantProjected(t, s, m, memory.VectorPending, after(50)) // the due time
	wantSame(t, "not due yet", claimDue(t, s, after(49), after(60), 10), []db.VectorTask{})
	push[0].Claim = 2
	wantSame(t, "due", claimDue(t, s, after(50), after(60), 10), push)

	again(55, m.ID)
	wantSame(t, "the claim stays", claimDue(t, s, after(59), after(70), 10), []db.VectorTask{})
	must(t, s.FinishVectors(t.Context(), push, after(59)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorPending: 1})
	push[0].Claim = 3
	wantSame(t, "due when the claim ends", claimDue(t, s, after(59), after(70), 10), push)
	must(t, s.FinishVectors(t.Context(), push, after(62)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorSynced: 1})

	again(63, m.ID)
	push[0].Claim = 4
	wantSame(t, "claimed by a pusher that crashes", claimDue(t, s, after(63), after(70), 10), push)
	again(64, m.ID)
	push[0].Claim = 5
	wantSame(t, "due when the claim has expired", claimDue(t, s, after(70), after(80), 10), push)
	again(71, m.ID)
	must(t, s.RetryVectors(t.Context(), []db.VectorRetry{{ID: m.ID, Claim: 5, Due: after(75)}}))
	push[0].Claim, push[0].Attempts = 6, 1
	wantSame(t, "due after a push that failed", claimDue(t, s, after(75), after(80), 10), push)
	must(t, s.FinishVectors(t.Context(), push, after(76)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorSynced: 1})

	m = forgotten(t, s, m, after(80))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorAbsent: 1})
	again(90, m.ID)
	removal := []db.VectorTask{{Memory: bare(m), Remove: true, Claim: 8}}
	wantSame(t, "removed again", claimDue(t, s, after(90), after(99), 10), removal)
	again(91, m.ID)
	must(t, s.FinishVectors(t.Context(), removal, after(92)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorRemoving: 1})
	removal[0].Claim = 9
	wantSame(t, "removed a third time", claimDue(t, s, after(92), after(99), 10), removal)
	must(t, s.FinishVectors(t.Context(), removal, after(93)))
	wantProjected(t, s, m, memory.VectorAbsent, after(93))
	n, err := s.Requeue(t.Context(), nil, epoch)
	must(t, err)
	wantSame(t, "nothing requeued", n, 0)
}
