package dbtest

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// claimDue claims the due vectors and returns their tasks in id order.
func claimDue(t *testing.T, s db.Store, now, until time.Time, limit int) []db.VectorTask {
	t.Helper()
	tasks, err := s.ClaimDueVectors(t.Context(), now, until, limit)
	must(t, err)
	slices.SortFunc(tasks, func(a, b db.VectorTask) int { return cmp.Compare(a.Memory.ID, b.Memory.ID) })
	return tasks
}

func wantStates(t *testing.T, s db.Store, want map[memory.VectorState]int) {
	t.Helper()
	stats, err := s.Stats(t.Context(), "app")
	must(t, err)
	wantSame(t, "vector states", stats.Vectors, want)
}

func vectorStates(t *testing.T, s db.Store) {
	m := newMemory(alice, "first wording")
	insert(t, s, after(30), m)
	wantStates(t, s, map[memory.VectorState]int{memory.VectorPending: 1})
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: m, Claim: 1}}, after(1)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorSynced: 1})
	wantSame(t, "nothing to do", claimDue(t, s, after(999), after(1999), 10), []db.VectorTask{})

	m.Importance, m.UpdatedAt = 0.5, after(40) // not part of the vector store
	update(t, s, m)
	wantStates(t, s, map[memory.VectorState]int{memory.VectorSynced: 1})

	m.Content = "second wording"
	m.Revision = 2
	m.UpdatedAt = after(50)
	update(t, s, m)
	wantStates(t, s, map[memory.VectorState]int{memory.VectorPending: 1})
	wantSame(t, "not due yet", claimDue(t, s, after(49), after(60), 10), []db.VectorTask{})
	wantSame(t, "due", claimDue(t, s, after(50), after(60), 10), []db.VectorTask{{Memory: m, Claim: 2}})

	m.Status = memory.Forgotten
	m.Revision = 3
	m.UpdatedAt = after(70)
	update(t, s, m)
	wantStates(t, s, map[memory.VectorState]int{memory.VectorRemoving: 1})
	backlog, err := s.VectorBacklog(t.Context(), nil)
	must(t, err)
	wantSame(t, "backlog", backlog, db.Backlog{Removing: 1, Oldest: after(50)})
	backlog, err = s.VectorBacklog(t.Context(), []time.Time{after(51), after(50)})
	must(t, err)
	wantSame(t, "backlog by age", backlog.Before, []int{1, 0})
	removal := []db.VectorTask{{Memory: bare(m), Remove: true, Claim: 3}}
	wantSame(t, "to be removed", claimDue(t, s, after(70), after(80), 10), removal)
	must(t, s.FinishVectors(t.Context(), removal, after(71)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorAbsent: 1})

	m.Status = memory.Active
	m.Revision = 4
	m.UpdatedAt = after(90) // restored
	update(t, s, m)
	wantSame(t, "pushed again", claimDue(t, s, after(90), after(99), 10), []db.VectorTask{{Memory: m, Claim: 4}})
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: m, Claim: 4}}, after(91)))
	backlog, err = s.VectorBacklog(t.Context(), nil)
	must(t, err)
	wantSame(t, "no backlog", backlog, db.Backlog{})
}

func vectorClaims(t *testing.T, s db.Store) {
	claimed, free := newMemory(alice, "claimed at creation"), newMemory(alice, "free")
	insert(t, s, after(30), claimed)
	insert(t, s, time.Time{}, free)
	claim := func(now, until int, ids ...string) []db.VectorTask {
		t.Helper()
		tasks, err := s.ClaimVectors(t.Context(), ids, after(now), after(until))
		must(t, err)
		slices.SortFunc(tasks, func(a, b db.VectorTask) int { return cmp.Compare(a.Memory.ID, b.Memory.ID) })
		return tasks
	}
	both := []string{claimed.ID, free.ID, memory.NewID()}
	wantSame(t, "the free one, for the first time", claim(10, 40, both...), []db.VectorTask{{Memory: free, Claim: 1}})
	wantSame(t, "while both are claimed", claim(29, 50, both...), []db.VectorTask{})
	wantSame(t, "due ones while both are claimed", claimDue(t, s, after(29), after(50), 10), []db.VectorTask{})
	wantSame(t, "when a claim has ended", claim(30, 50, both...), []db.VectorTask{{Memory: claimed, Claim: 2}})
	wantSame(t, "due ones when a claim has ended", claimDue(t, s, after(40), after(60), 10),
		[]db.VectorTask{{Memory: free, Claim: 2}})

	must(t, s.RetryVectors(t.Context(), []db.VectorRetry{{ID: claimed.ID, Claim: 2, Due: after(500)}}))
	wantSame(t, "by id though not due", claim(45, 100, claimed.ID),
		[]db.VectorTask{{Memory: claimed, Claim: 3, Attempts: 1}})

	free.Content = "changed"
	free.Revision = 2
	free.UpdatedAt = after(46)
	update(t, s, free)
	wantSame(t, "a change leaves the claim", claim(59, 100, free.ID), []db.VectorTask{})
	wantSame(t, "until it ends", claim(60, 100, free.ID), []db.VectorTask{{Memory: free, Claim: 3}})
	done := []db.VectorTask{{Memory: free, Claim: 3}, {Memory: claimed, Claim: 3}}
	must(t, s.FinishVectors(t.Context(), done, after(61)))
	wantSame(t, "when all is done", claim(999, 1999, both...), []db.VectorTask{})
}

func vectorClaimsAtOnce(t *testing.T, s db.Store) {
	const n = 120
	var all []memory.Memory
	for i := range n {
		m := newMemory(alice, describe(i))
		m.UpdatedAt = after(i % 7)
		all = append(all, m)
	}
	insert(t, s, time.Time{}, all...)
	var mu sync.Mutex
	times := map[string]int{}
	var group errgroup.Group
	for worker := range 8 {
		group.Go(func() error {
			for round := 0; ; round++ {
				var tasks []db.VectorTask
				var err error
				if worker%2 == 0 {
					tasks, err = s.ClaimDueVectors(t.Context(), after(100), after(200), 7)
				} else {
					from := (worker*31 + round*17) % n
					tasks, err = s.ClaimVectors(t.Context(), ids(all[from:min(n, from+20)]), after(100), after(200))
				}
				if err != nil {
					return err
				}
				mu.Lock()
				for _, task := range tasks {
					times[task.Memory.ID]++
					if task.Claim != 1 {
						err = fmt.Errorf("claim of %s is not the first", task.Memory.ID)
					}
				}
				done := len(times) == n
				mu.Unlock()
				if err != nil || done {
					return err
				}
			}
		})
	}
	must(t, group.Wait())
	for id, k := range times {
		if k != 1 {
			t.Errorf("%s was claimed %d times", id, k)
		}
	}
}

func vectorRetries(t *testing.T, s db.Store) {
	var all []memory.Memory
	for i := range 4 {
		m := newMemory(alice, describe(i))
		m.UpdatedAt = after(i)
		all = append(all, m)
	}
	slices.Reverse(all) // the first due is not the first inserted
	insert(t, s, time.Time{}, all...)
	slices.Reverse(all)
	wantSame(t, "oldest due first", claimDue(t, s, after(10), after(60), 2),
		[]db.VectorTask{{Memory: all[0], Claim: 1}, {Memory: all[1], Claim: 1}})
	must(t, s.RetryVectors(t.Context(), []db.VectorRetry{
		{ID: all[0].ID, Claim: 1, Due: after(100)},
		{ID: all[1].ID, Claim: 1, Due: after(50)},
		{ID: memory.NewID(), Due: after(1)},
	}))
	must(t, s.RetryVectors(t.Context(), nil))
	wantSame(t, "the others", claimDue(t, s, after(20), after(900), 10),
		[]db.VectorTask{{Memory: all[2], Claim: 1}, {Memory: all[3], Claim: 1}})
	wantSame(t, "not due", claimDue(t, s, after(49), after(900), 10), []db.VectorTask{})
	wantSame(t, "due again", claimDue(t, s, after(50), after(60), 10),
		[]db.VectorTask{{Memory: all[1], Claim: 2, Attempts: 1}})
	must(t, s.RetryVectors(t.Context(), []db.VectorRetry{{ID: all[1].ID, Claim: 2, Due: after(55)}}))
	wantSame(t, "after a second attempt", claimDue(t, s, after(55), after(70), 10),
		[]db.VectorTask{{Memory: all[1], Claim: 3, Attempts: 2}})
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: all[1], Claim: 3}}, after(56)))
	backlog, err := s.VectorBacklog(t.Context(), nil)
	must(t, err)
	wantSame(t, "backlog", backlog, db.Backlog{Pending: 3, Oldest: epoch})

	all[1].Revision, all[1].UpdatedAt = 2, after(80)
	update(t, s, all[1])
	wantSame(t, "success resets the attempts", claimDue(t, s, after(80), after(90), 10),
		[]db.VectorTask{{Memory: all[1], Claim: 4}})
}

// vectorBacklog checks that a row waits since its change, even if pushes fail.
func vectorBacklog(t *testing.T, s db.Store) {
	wantOldest := func(what string, want time.Time) {
		t.Helper()
		backlog, err := s.VectorBacklog(t.Context(), nil)
		must(t, err)
		if !backlog.Oldest.Equal(want) {
			t.Errorf("%s: the oldest row waits since %s, want %s", what, backlog.Oldest, want)
		}
	}
	wantOldest("nothing waits", time.Time{})
	m := newMemory(alice, "new")
	insert(t, s, after(30), m)
	for i := range 3 {
		must(t, s.RetryVectors(t.Context(), []db.VectorRetry{{ID: m.ID, Claim: 1, Due: after(100 * (i + 1))}}))
		wantOldest("after failed pushes", epoch)
	}
	claimed := claimDue(t, s, after(300), after(330), 10)
	m.Content = "changed while it waits"
	m.Revision = 2
	m.UpdatedAt = after(310)
	update(t, s, m)
	_, err := s.Requeue(t.Context(), []string{m.ID}, after(311))
	must(t, err)
	wantOldest("changed and requeued while it waits", epoch)
	must(t, s.FinishVectors(t.Context(), claimed, after(320)))
	wantOldest("the older revision was pushed", after(320))
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: m, Claim: 2}}, after(321)))
	wantOldest("all pushed", time.Time{})

	m.Importance, m.UpdatedAt = 0.1, after(400)
	update(t, s, m)
	wantOldest("a change outside the vector store", time.Time{})
	_, err = s.Requeue(t.Context(), []string{m.ID}, after(410))
	must(t, err)
	wantOldest("requeued", after(410))
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: m, Claim: 2}}, after(411)))
	m.Status = memory.Forgotten
	m.Revision = 3
	m.UpdatedAt = after(420)
	update(t, s, m)
	wantOldest("to be removed", after(420))
}

// vectorChangeInPush changes memories between the claim and the end of a push.
func vectorChangeInPush(t *testing.T, s db.Store) {
	m := newMemory(alice, "first wording")
	insert(t, s, time.Time{}, m)
	pushed := claimDue(t, s, after(1), after(60), 10)
	m.Content = "second wording"
	m.Revision = 2
	m.UpdatedAt = after(300)
	update(t, s, m)
	must(t, s.FinishVectors(t.Context(), pushed, after(5)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorPending: 1})
	again := claimDue(t, s, after(5), after(10), 10)
	wantSame(t, "due at once", again, []db.VectorTask{{Memory: m, Claim: 2}})

	m.Status, m.Revision = memory.Forgotten, 3
	update(t, s, m)
	must(t, s.FinishVectors(t.Context(), again, after(6)))
	removal := claimDue(t, s, after(6), after(10), 10)
	wantSame(t, "removed at once", removal, []db.VectorTask{{Memory: bare(m), Remove: true, Claim: 3}})
	must(t, s.FinishVectors(t.Context(), removal, after(7)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorAbsent: 1})

	// An older push that ends after a newer one may have overwritten it.
	must(t, s.FinishVectors(t.Context(), again, after(8)))
	removal[0].Claim = 4
	wantSame(t, "removed again", claimDue(t, s, after(8), after(10), 10), removal)
	must(t, s.FinishVectors(t.Context(), nil, after(9)))
}

// vectorClaimLost ends pushes whose claim had ended, so that another pusher pushed
// the same memory at the same time. A push deletes before it inserts, so that the
// store may lack the memory, or hold it twice.
func vectorClaimLost(t *testing.T, s db.Store) {
	m := newMemory(alice, "pushed by two")
	insert(t, s, after(15), m)
	slow := []db.VectorTask{{Memory: m, Claim: 1}}
	second := claimDue(t, s, after(20), after(35), 10)
	wantSame(t, "when the first claim has ended", second, []db.VectorTask{{Memory: m, Claim: 2}})
	must(t, s.FinishVectors(t.Context(), slow, after(21)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorPending: 1})
	wantSame(t, "while the second push runs", claimDue(t, s, after(34), after(50), 10), []db.VectorTask{})
	must(t, s.FinishVectors(t.Context(), second, after(34)))
	third := claimDue(t, s, after(34), after(50), 10)
	wantSame(t, "after both pushes", third, []db.VectorTask{{Memory: m, Claim: 3}})
	must(t, s.FinishVectors(t.Context(), third, after(36)))
	wantStates(t, s, map[memory.VectorState]int{memory.VectorSynced: 1})

	must(t, s.FinishVectors(t.Context(), second, after(37)))
	fourth := claimDue(t, s, after(37), after(50), 10)
	wantSame(t, "after a push that ends late", fourth, []db.VectorTask{{Memory: m, Claim: 4}})
	must(t, s.FinishVectors(t.Context(), fourth, after(38)))
	must(t, s.RetryVectors(t.Context(), []db.VectorRetry{{ID: m.ID, Claim: 3, Due: after(39)}}))
	fifth := claimDue(t, s, after(39), after(50), 10)
	wantSame(t, "after a push that fails late", fifth, []db.VectorTask{{Memory: m, Claim: 5}})

	wantSame(t, "the fifth has crashed", claimDue(t, s, after(50), after(60), 10), []db.VectorTask{{Memory: m, Claim: 6}})
	must(t, s.RetryVectors(t.Context(), []db.VectorRetry{{ID: m.ID, Claim: 5, Due: after(52)}}))
	must(t, s.FinishVectors(t.Context(), []db.VectorTask{{Memory: m, Claim: 6}}, after(53)))
	wantSame(t, "after a failed and a confirmed push at once", claimDue(t, s, after(53), after(60), 10),
		[]db.VectorTask{{Memory: m, Claim: 7}})
}
