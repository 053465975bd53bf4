package dbtest

import (
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// leasesOfAClockAhead checks that leases that are longer than the longest of their kind
// do not hold work, and that others stay.
func leasesOfAClockAhead(t *testing.T, s db.Store) {
	ctx := t.Context()
	longest := db.Longest{
		Turn: 6 * time.Minute, Push: 2 * time.Minute, Consolidation: 20 * time.Second, Reembedding: 10 * time.Second,
	}
	for name, more := range map[string]time.Duration{"held by a clock that is ahead": time.Second, "held": 0} {
		until := func(longest time.Duration) time.Time { return after(1).Add(longest + db.MaxSkew + more) }
		t.Run(name, func(t *testing.T) {
			owner := memory.Owner{AppID: "app", UserID: name}
			turn := newTurn(owner, "")
			_, _, err := s.AcceptTurn(ctx, turn, until(longest.Turn), nil)
			must(t, err)
			claimed, due := newMemory(owner, "claimed"), newMemory(owner, "due")
			insert(t, s, until(longest.Push), claimed)
			insert(t, s, time.Time{}, due)
			must(t, s.RetryVectors(ctx, []db.VectorRetry{{ID: due.ID, Due: until(longest.Push)}}))
			say(t, s, talked(owner, "c", epoch, "one"))
			c := newConsolidation(owner, "c", memory.FastReplay, 1, 1)
			planAll(t, s, c)
			_, err = attempt(s, owner, c.ID, after(0), until(longest.Consolidation))
			must(t, err)
			_, err = s.SetTarget(ctx, memory.Space{Model: "m", Dim: 1}, after(0))
			must(t, err)
			_, err = s.HoldReembedding(ctx, "other", until(longest.Reembedding), until(longest.Reembedding))
			must(t, err)

			ahead := more > 0
			voided, err := s.VoidLeases(ctx, after(1), longest)
			must(t, err)
			wantSame(t, "voided", voided, map[bool]int{true: 5}[ahead])
			turns, err := s.ClaimTurns(ctx, after(1), after(2), 10)
			must(t, err)
			wantSame(t, "the turn is due", len(turns), map[bool]int{true: 1}[ahead])
			wantSame(t, "pushes are due", len(claimDue(t, s, after(1), after(2), 10)), map[bool]int{true: 2}[ahead])
			_, err = attempt(s, owner, c.ID, after(1), after(2))
			wantSame(t, "the consolidation is free", err == nil, ahead)
			held, err := s.HoldReembedding(ctx, "me", after(1), after(2))
			must(t, err)
			wantSame(t, "re-embedding is free", held, ahead)
		})
	}
}
