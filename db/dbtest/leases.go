package dbtest

import (
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// leasesOfAClockAhead checks that leases which no setting allows do not hold work, and
// that others stay.
func leasesOfAClockAhead(t *testing.T, s db.Store) {
	ctx, month := t.Context(), 30*24*3600
	for name, days := range map[string]int{"held by a clock that is ahead": month, "held": 3600} {
		t.Run(name, func(t *testing.T) {
			owner := memory.Owner{AppID: "app", UserID: name}
			turn := newTurn(owner, "")
			_, _, err := s.AcceptTurn(ctx, turn, after(days))
			must(t, err)
			claimed, due := newMemory(owner, "claimed"), newMemory(owner, "due")
			insert(t, s, after(days), claimed)
			insert(t, s, time.Time{}, due)
			must(t, s.RetryVectors(ctx, []db.VectorRetry{{ID: due.ID, Due: after(days)}}))
			say(t, s, talked(owner, "c", epoch, "one"))
			c := newConsolidation(owner, "c", memory.FastReplay, 1, 1)
			planAll(t, s, c)
			_, err = attempt(s, owner, c.ID, after(0), after(days))
			must(t, err)
			_, err = s.SetTarget(ctx, memory.Space{Model: "m", Dim: 1}, after(0))
			must(t, err)
			_, err = s.HoldReembedding(ctx, "other", after(days), after(days))
			must(t, err)

			ahead := days == month
			voided, err := s.VoidLeases(ctx, after(1))
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
