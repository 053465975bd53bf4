package dbtest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// proposed stores n candidates of a turn of the owner and returns them as
// proposals. Verdicts, importances and times vary; several share an instant.
func proposed(t *testing.T, s db.Store, owner memory.Owner, n int) (proposals []db.Proposal) {
	t.Helper()
	turn := newTurn(owner, "")
	accepted(t, s, turn)
	var all []memory.Candidate
	for i := range n {
		c := newCandidate(turn.ID)
		c.Verdict = memory.Verdicts[i%len(memory.Verdicts)]
		c.Importance = float64(i%8) / 8
		c.CreatedAt = after(i / 3)
		all = append(all, c)
		proposals = append(proposals, db.Proposal{
			Candidate:      c,
			Owner:          owner,
			AgentID:        turn.AgentID,
			ConversationID: turn.ConversationID,
			SaidAt:         turn.At,
		})
	}
	must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddCandidates(ctx, all)
	}))
	return proposals
}

func listCandidates(t *testing.T, s db.Store) {
	bob := memory.Owner{AppID: "app", UserID: "bob"}
	all := append(proposed(t, s, alice, 25), proposed(t, s, bob, 20)...)
	proposed(t, s, memory.Owner{AppID: "other", UserID: "alice"}, 5)
	slices.SortFunc(all, func(a, b db.Proposal) int {
		return -cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	for what, c := range map[string]struct {
		filter db.CandidateFilter
		keep   func(db.Proposal) bool
	}{
		"all":  {db.CandidateFilter{}, func(db.Proposal) bool { return true }},
		"user": {db.CandidateFilter{UserID: "bob"}, func(p db.Proposal) bool { return p.Owner == bob }},
		"verdict": {
			db.CandidateFilter{Verdict: memory.BelowThreshold},
			func(p db.Proposal) bool { return p.Verdict == memory.BelowThreshold },
		},
		"importance": {db.CandidateFilter{MinImportance: 0.5}, func(p db.Proposal) bool { return p.Importance >= 0.5 }},
		"least and greatest importance": {
			db.CandidateFilter{MinImportance: 0.25, MaxImportance: 0.5},
			func(p db.Proposal) bool { return p.Importance >= 0.25 && p.Importance < 0.5 },
		},
		"all of them": {
			db.CandidateFilter{UserID: "alice", Verdict: memory.Kept, MinImportance: 0.125},
			func(p db.Proposal) bool { return p.Owner == alice && p.Verdict == memory.Kept && p.Importance >= 0.125 },
		},
		"unknown user":   {db.CandidateFilter{UserID: "carol"}, func(db.Proposal) bool { return false }},
		"no importance":  {db.CandidateFilter{MinImportance: 1}, func(db.Proposal) bool { return false }},
		"unknown values": {db.CandidateFilter{Verdict: "unknown"}, func(db.Proposal) bool { return false }},
	} {
		want := []db.Proposal{}
		for _, p := range all {
			if c.keep(p) {
				want = append(want, p)
			}
		}
		for _, limit := range []int{1, 7, memory.MaxPage} {
			var got []db.Proposal
			f := c.filter
			f.AppID, f.Limit = "app", limit
			for {
				page, err := s.ListCandidates(t.Context(), f)
				must(t, err)
				got = append(got, page...)
				if len(page) < limit {
					break
				}
				f.Before = &db.Position{At: page[limit-1].CreatedAt, ID: page[limit-1].ID}
			}
			wantSame(t, what, got, want)
		}
	}
}

func countCandidates(t *testing.T, s db.Store) {
	proposed(t, s, memory.Owner{AppID: "app", UserID: "bob"}, 3)
	proposed(t, s, memory.Owner{AppID: "other", UserID: "alice"}, 3)
	turn := newTurn(alice, "")
	accepted(t, s, turn)
	var all []memory.Candidate
	for i, importance := range []float64{0, 0.28, 0.29, 0.295, 0.57, 0.7, 0.7, 1} {
		c := newCandidate(turn.ID)
		c.Importance = importance
		c.Verdict = memory.BelowThreshold
		if i >= 6 {
			c.Verdict = memory.Kept
		}
		all = append(all, c)
	}
	must(t, s.InUser(t.Context(), alice, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddCandidates(ctx, all)
	}))
	got, err := s.CountCandidates(t.Context(), alice)
	must(t, err)
	wantSame(t, "counts", got, []db.CandidateCount{
		{Importance: 0, Verdict: memory.BelowThreshold, Count: 1},
		{Importance: 0.28, Verdict: memory.BelowThreshold, Count: 1},
		{Importance: 0.29, Verdict: memory.BelowThreshold, Count: 2},
		{Importance: 0.57, Verdict: memory.BelowThreshold, Count: 1},
		{Importance: 0.7, Verdict: memory.BelowThreshold, Count: 1},
		{Importance: 0.7, Verdict: memory.Kept, Count: 1},
		{Importance: 1, Verdict: memory.Kept, Count: 1},
	})
	got, err = s.CountCandidates(t.Context(), memory.Owner{AppID: "app", UserID: "carol"})
	must(t, err)
	wantSame(t, "counts of an unknown user", got, []db.CandidateCount{})
}

// listed returns the proposals of the app with the given ids.
func listed(t *testing.T, s db.Store, ids ...string) []db.Proposal {
	t.Helper()
	found, err := s.Proposals(t.Context(), "app", ids)
	must(t, err)
	return found
}

func proposalsByID(t *testing.T, s db.Store) {
	mine := proposed(t, s, alice, 3)
	theirs := proposed(t, s, memory.Owner{AppID: "app", UserID: "bob"}, 1)
	foreign := proposed(t, s, memory.Owner{AppID: "other", UserID: "alice"}, 1)
	got := listed(t, s, mine[0].ID, mine[2].ID, theirs[0].ID, foreign[0].ID, memory.NewID(), "no id", "")
	byID := func(a, b db.Proposal) int { return cmp.Compare(a.ID, b.ID) }
	want := []db.Proposal{mine[0], mine[2], theirs[0]}
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	wantSame(t, "proposals", got, want)
	wantSame(t, "no ids", listed(t, s), []db.Proposal{})
}

func settleCandidate(t *testing.T, s db.Store) {
	mine := proposed(t, s, alice, 2)
	settle := func(owner memory.Owner, c memory.Candidate) error {
		return s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.SettleCandidate(ctx, c)
		})
	}
	settled := mine[0].Candidate
	settled.Verdict = memory.Merged
	settled.Reason = "promoted \x00"
	settled.MemoryID = memory.NewID()
	ignored := settled
	// only the verdict, reason and memory id change
	ignored.Content = "other"
	ignored.Importance = 0.1
	ignored.Scorer = "other"
	ignored.CreatedAt = after(99)
	must(t, settle(alice, ignored))
	settled.Reason = "promoted \uFFFD"
	wantCandidates := func(want ...memory.Candidate) {
		t.Helper()
		got, err := s.TurnCandidates(t.Context(), "app", settled.TurnID)
		must(t, err)
		slices.SortFunc(want, func(a, b memory.Candidate) int { return cmp.Compare(a.ID, b.ID) })
		wantSame(t, "candidates", got, want)
	}
	wantCandidates(settled, mine[1].Candidate)
	settled.Verdict, settled.MemoryID = memory.BelowThreshold, ""
	must(t, settle(alice, settled))
	wantCandidates(settled, mine[1].Candidate)

	stolen := settled
	stolen.Verdict = memory.Kept
	for _, owner := range []memory.Owner{{AppID: "app", UserID: "bob"}, {AppID: "other", UserID: "alice"}} {
		wantKind(t, settle(owner, stolen), memory.KindNotFound)
	}
	for _, unknown := range []string{memory.NewID(), "no id", ""} {
		stolen.ID = unknown
		wantKind(t, settle(alice, stolen), memory.KindNotFound)
	}
	stolen.ID, stolen.Verdict = settled.ID, "unknown"
	wantKind(t, settle(alice, stolen), memory.KindInvalid)
	wantCandidates(settled, mine[1].Candidate)
}
