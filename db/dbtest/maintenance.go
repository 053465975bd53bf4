package dbtest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// forgotten marks a stored memory as forgotten at an instant and confirms its
// removal from the vector store.
func forgotten(t *testing.T, s db.Store, m memory.Memory, at time.Time) memory.Memory {
	t.Helper()
	m.Status = memory.Forgotten
	m.UpdatedAt = at
	m.Revision++
	update(t, s, m)
	tasks, err := s.ClaimVectors(t.Context(), []string{m.ID}, at, at)
	must(t, err)
	must(t, s.FinishVectors(t.Context(), tasks, at))
	return m
}

func owners(t *testing.T, s db.Store) {
	want := []memory.Owner{
		{AppID: "", UserID: ""},
		{AppID: "App", UserID: "z"},
		{AppID: "app", UserID: "B"},
		{AppID: "app", UserID: "a"},
		{AppID: "app", UserID: "a "},
		{AppID: "app", UserID: "é"},
		{AppID: "app", UserID: "爱"},
		{AppID: "app2", UserID: "A"},
		{AppID: "é", UserID: "a"},
	}[1:]
	for i, owner := range slices.Backward(want) {
		for range 1 + i%3 {
			insert(t, s, time.Time{}, newMemory(owner, "active"))
		}
	}
	gone := newMemory(memory.Owner{AppID: "app", UserID: "c"}, "forgotten")
	gone.Status = memory.Forgotten
	insert(t, s, time.Time{}, gone)
	for _, limit := range []int{1, 3, 100} {
		var found []memory.Owner
		for after := (memory.Owner{}); ; {
			page, err := s.Owners(t.Context(), after, limit)
			must(t, err)
			found = append(found, page...)
			if len(page) < limit {
				break
			}
			after = page[limit-1]
		}
		wantSame(t, "owners", found, want)
	}
	rest, err := s.Owners(t.Context(), gone.Owner, 2)
	must(t, err)
	wantSame(t, "after an owner that is not listed", rest, want[4:6])
}

func facts(t *testing.T, s db.Store) {
	var all, want []memory.Memory
	for i := range 30 {
		m := newMemory(alice, describe(i))
		m.Type, m.UpdatedAt = memory.Types[i%len(memory.Types)], after(i/3)
		if i%5 == 4 {
			m.Status = memory.Statuses[i%len(memory.Statuses)]
		}
		all = append(all, m)
		if m.Status == memory.Active && m.Type != memory.TypeMessage && m.Type != memory.TypeReflection &&
			m.Type != memory.TypeSummary && i/3 > 2 {
			want = append(want, bare(m))
		}
	}
	insert(t, s, time.Time{}, all...)
	insert(t, s, time.Time{}, newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "bob's"))
	slices.SortFunc(want, func(a, b memory.Memory) int {
		return -cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, limit := range []int{1, 7, 100} {
		got, err := s.Facts(t.Context(), alice, after(2), limit)
		must(t, err)
		wantSame(t, "facts", got, want[:min(limit, len(want))])
	}
	unchanged, err := s.Facts(t.Context(), alice, after(9), 100)
	must(t, err)
	wantSame(t, "facts changed at since, not after it", unchanged, []memory.Memory{})
	every, err := s.Facts(t.Context(), alice, time.Time{}, 100)
	must(t, err)
	if len(every) <= len(want) {
		t.Errorf("without since: %d facts, want more than %d", len(every), len(want))
	}
	for _, limit := range []int{1, 7, 100} {
		var times []db.Position
		for _, m := range every[:min(limit, len(every))] {
			times = append(times, db.Position{At: m.UpdatedAt, ID: m.ID})
		}
		got, err := s.FactTimes(t.Context(), alice, limit)
		must(t, err)
		wantSame(t, "times of facts", got, times)
	}
}

func states(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	wantState := func(owner memory.Owner, want db.UserState) {
		t.Helper()
		got, err := s.State(t.Context(), owner)
		must(t, err)
		wantSame(t, "state", got, want)
		must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			got, err := tx.State(ctx)
			wantSame(t, "state within the transaction", got, want)
			return err
		}))
	}
	set := func(owner memory.Owner, state db.UserState, refused error) {
		t.Helper()
		err := s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			must(t, tx.SetState(ctx, state))
			got, err := tx.State(ctx)
			must(t, err)
			wantSame(t, "state before the commit", got, state)
			return refused
		})
		if !errors.Is(err, refused) {
			t.Error(err)
		}
	}
	wantState(alice, db.UserState{})
	set(alice, db.UserState{ReflectedAt: epoch}, errors.New("refused"))
	wantState(alice, db.UserState{})
	set(alice, db.UserState{ReflectedAt: epoch}, nil)
	wantState(alice, db.UserState{ReflectedAt: epoch})
	wantState(bob, db.UserState{})
	wantState(memory.Owner{AppID: "other", UserID: "alice"}, db.UserState{})
	set(bob, db.UserState{CompressedAt: after(3)}, nil)
	set(alice, db.UserState{ReflectedAt: after(1), CompressedAt: after(2)}, nil)
	wantState(alice, db.UserState{ReflectedAt: after(1), CompressedAt: after(2)})
	set(alice, db.UserState{CompressedAt: after(4)}, nil)
	wantState(alice, db.UserState{CompressedAt: after(4)})
	wantState(bob, db.UserState{CompressedAt: after(3)})
}

func ages(t *testing.T, s db.Store) {
	first := newMemory(alice, "first")
	second := newMemory(memory.Owner{AppID: "app", UserID: "bob"}, "second")
	gone := newMemory(alice, "gone")
	first.CreatedAt = after(-9)
	first.UpdatedAt = after(6)
	first.LastAccessedAt = after(7)
	first.AccessCount = 3
	first.Importance = 1 // which SQLite stores as an integer
	first.Type = memory.TypeReflection
	second.Pinned, second.Importance = false, 0
	gone.Status = memory.Consolidated
	insert(t, s, time.Time{}, first, gone)
	insert(t, s, time.Time{}, second)
	insert(t, s, time.Time{}, newMemory(memory.Owner{AppID: "other", UserID: "alice"}, "elsewhere"))
	var got []db.Age
	users := map[time.Time]string{}
	must(t, s.Ages(t.Context(), "app", func(userID string, a db.Age) error {
		got, users[a.CreatedAt] = append(got, a), userID
		return nil
	}))
	wantSame(t, "users by their memory's time", users, map[time.Time]string{after(-9): "alice", epoch: "bob"})
	slices.SortFunc(got, func(a, b db.Age) int { return a.CreatedAt.Compare(b.CreatedAt) })
	wantSame(t, "ages", got, []db.Age{
		{
			CreatedAt:      after(-9),
			UpdatedAt:      after(6),
			LastAccessedAt: after(7),
			AccessCount:    3,
			Importance:     1,
			Type:           memory.TypeReflection,
			Domain:         first.Domain,
			Pinned:         true,
			AgentID:        "agent",
		},
		{CreatedAt: epoch, UpdatedAt: epoch, LastAccessedAt: epoch, Type: memory.TypeFact, Domain: second.Domain,
			AgentID: "agent"},
	})
	calls, errStop := 0, errors.New("stop")
	err := s.Ages(t.Context(), "app", func(string, db.Age) error {
		calls++
		return errStop
	})
	if err != errStop || calls != 1 { //nolint:errorlint // the error must be returned unwrapped
		t.Errorf("stopped after one memory: %d calls, %v", calls, err)
	}
	insert(t, s, time.Time{}, newMemory(alice, "the connection is free again"))
}

// everyMaintenance calls each method of db.Maintenance and db.Jobs and returns
// their errors.
func everyMaintenance(ctx context.Context, s db.Store) map[string]error {
	id := memory.NewID()
	errs := map[string]error{}
	_, errs["Owners"] = s.Owners(ctx, memory.Owner{}, 1)
	_, errs["Facts"] = s.Facts(ctx, alice, epoch, 1)
	_, errs["FactTimes"] = s.FactTimes(ctx, alice, 1)
	_, errs["CondensedFacts"] = s.CondensedFacts(ctx, alice, 1)
	_, errs["CondensedTimes"] = s.CondensedTimes(ctx, alice, 1)
	_, errs["Stale"] = s.Stale(ctx, alice, db.StaleFilter{Before: epoch, Accesses: 1, Limit: 1})
	_, errs["Sources"] = s.Sources(ctx, alice, []string{id})
	_, errs["Relations"] = s.Relations(ctx, "app", id)
	_, errs["State"] = s.State(ctx, alice)
	_, errs["Purgeable"] = s.Purgeable(ctx, epoch, 1)
	errs["Ages"] = s.Ages(ctx, "app", func(string, db.Age) error { return nil })
	_, errs["Projected"] = s.Projected(ctx, id, 1)
	_, errs["Requeue"] = s.Requeue(ctx, []string{id}, epoch)
	_, errs["ListCandidates"] = s.ListCandidates(ctx, db.CandidateFilter{AppID: "app", Limit: 1})
	_, errs["CountCandidates"] = s.CountCandidates(ctx, alice)
	_, errs["Proposals"] = s.Proposals(ctx, "app", []string{id})
	_, _, errs["Enqueue"] = s.Enqueue(ctx, work{id})
	errs["EnqueueForUser"] = s.EnqueueForUser(ctx, alice, 0, work{id})
	errs["EnqueueForConversation"] = s.EnqueueForConversation(ctx, memory.Conversation{Owner: alice, ID: "c"}, work{id})
	_, errs["Job"] = s.Job(ctx, -1)
	_, errs["VoidLeases"] = s.VoidLeases(ctx, epoch, db.Longest{})
	_, errs["Beat"] = s.Beat(ctx, id, time.Minute)
	_, errs["ListJobs"] = s.ListJobs(ctx, db.JobFilter{Kinds: []string{"dbtest_work"}, Limit: 1})
	_, errs["WaitingJobs"] = s.WaitingJobs(ctx, "dbtest_work")
	return errs
}

// exerciseMaintenance is Exercise for db.Maintenance and db.Jobs, with ids of
// memories and of a turn of the owner.
func exerciseMaintenance(t *testing.T, s db.Store, owner memory.Owner, known []string, turnID string) {
	t.Helper()
	ctx := t.Context()
	before := &db.Position{At: after(10), ID: memory.NewID()}
	for _, f := range []db.CandidateFilter{
		{},
		{Before: before},
		{UserID: owner.UserID},
		{UserID: owner.UserID, Before: before},
		{Verdict: memory.Kept},
		{Verdict: memory.Echo, Before: before},
		{UserID: owner.UserID, Verdict: memory.BelowThreshold, MinImportance: 0.5, Before: before},
		{MinImportance: 0.5},
		{UserID: owner.UserID, Verdict: memory.BelowThreshold, MinImportance: 0.5, MaxImportance: 0.7},
	} {
		f.AppID, f.Limit = owner.AppID, 5
		_, err := s.ListCandidates(ctx, f)
		must(t, err)
	}
	_, err := s.CountCandidates(ctx, owner)
	must(t, err)
	candidates, err := s.TurnCandidates(ctx, owner.AppID, turnID)
	must(t, err)
	_, err = s.Proposals(ctx, owner.AppID, []string{candidates[0].ID})
	must(t, err)
	_, err = s.Stale(ctx, owner, db.StaleFilter{Before: after(1), MessagesBefore: after(2), Accesses: 5, Limit: 5})
	must(t, err)
	_, err = s.Facts(ctx, owner, after(-1), 5)
	must(t, err)
	_, err = s.FactTimes(ctx, owner, 5)
	must(t, err)
	_, err = s.CondensedFacts(ctx, owner, 5)
	must(t, err)
	_, err = s.CondensedTimes(ctx, owner, 5)
	must(t, err)
	_, err = s.Sources(ctx, owner, known)
	must(t, err)
	_, err = s.Relations(ctx, owner.AppID, known[0])
	must(t, err)
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		must(t, tx.SetState(ctx, db.UserState{ReflectedAt: epoch}))
		must(t, tx.SettleCandidate(ctx, candidates[0]))
		must(t, tx.AddRelations(ctx, []memory.Relation{
			{From: known[0], To: known[1], Kind: memory.Supports, CreatedAt: epoch},
		}))
		_, err := tx.StandIns(ctx, known)
		must(t, err)
		_, err = tx.Purge(ctx, known[:1])
		must(t, err)
		_, err = tx.State(ctx)
		return err
	}))
	_, err = s.VoidLeases(ctx, epoch, db.Longest{})
	must(t, err)
	process := memory.NewID()
	for range 2 { // the first beat frees no job
		_, err = s.Beat(ctx, process, time.Minute)
		must(t, err)
	}
	job := enqueue(t, s, testJob{"well", "monday"}, true)
	_, err = s.Job(ctx, job.ID)
	must(t, err)
	for _, f := range []db.JobFilter{
		{Kinds: []string{job.Kind}},
		{Kinds: []string{job.Kind, "dbtest_other"}, Before: job.ID},
	} {
		f.Limit = 5
		_, err = s.ListJobs(ctx, f)
		must(t, err)
	}
	_, err = s.WaitingJobs(ctx, job.Kind)
	must(t, err)
}
