package facts

import (
	"bytes"
	"fmt"
	"time"

	"hippocampus/internal/memory"
)

// weigh decides what becomes of evidence: a fact that is complete except for its
// state and reason. valid is the fact that is valid at its instant, or nil; next is
// when another fact begins or is known to have ended, or zero. weigh returns the
// evidence as it is to be recorded, and valid as it is from then on.
// docs/flows/conversations.md has the rule.
func weigh(e memory.Fact, valid *memory.Fact, next time.Time, trust float64) (memory.Fact, *memory.Fact) {
	stated := e.ValidUntil
	end := earlier(stated, next)
	if valid == nil {
		e.State, e.Reason = memory.FactAccepted, "nothing was valid at this instant"
		e.ValidUntil = end
		return e, nil
	}
	old := *valid
	weight, trusted := compare(e, old, trust)
	switch {
	case bytes.Equal(e.Value, old.Value):
		e.State, e.Reason = memory.FactConfirmed, fmt.Sprintf("fact %s says the same", old.ID)
		old.Confidence = max(old.Confidence, e.Confidence)
		if !stated.IsZero() && trusted {
			old.ValidUntil = end
		}
	case e.ValidFrom.After(old.ValidFrom) && trusted:
		e.State, e.Reason = memory.FactAccepted, "it is newer, and "+weight
		e.ValidUntil = end
		old.ValidUntil = e.ValidFrom
	case e.ValidFrom.Equal(old.ValidFrom) && e.Confidence >= old.Confidence:
		e.State, e.Reason = memory.FactAccepted, "it is of the same instant, and "+weight
		e.ValidUntil = end
		old.State, old.Reason = memory.FactReplaced, fmt.Sprintf("fact %s of the same instant took its place", e.ID)
		old.ValidUntil = time.Time{}
	case e.ValidFrom.Equal(old.ValidFrom):
		e.State = memory.FactRefused
		e.Reason = fmt.Sprintf("it is of the same instant, and its confidence of %g is below the %g of fact %s",
			e.Confidence, old.Confidence, old.ID)
	default:
		e.State, e.Reason = memory.FactRefused, weight
	}
	return e, &old
}

// compare describes the confidence of evidence relative to a fact's, and reports
// whether it is enough to replace the fact from a later instant on.
func compare(e, old memory.Fact, trust float64) (why string, enough bool) {
	switch {
	case e.Confidence >= old.Confidence:
		return fmt.Sprintf("its confidence of %g is not below the %g of fact %s",
			e.Confidence, old.Confidence, old.ID), true
	case e.Confidence >= trust:
		return fmt.Sprintf("its confidence of %g is not below the %g that is trusted", e.Confidence, trust), true
	}
	return fmt.Sprintf("its confidence of %g is below the %g of fact %s and below the %g that is trusted",
		e.Confidence, old.Confidence, old.ID, trust), false
}

// earlier returns the earlier of two instants; a zero instant is ignored.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// due is when the memory of a fact must be created or ended; zero if never.
func due(f memory.Fact, now time.Time) time.Time {
	switch {
	case f.EndsMemory && f.State == memory.FactAccepted:
		return f.ValidUntil
	case f.EndsMemory:
		return now
	case f.State == memory.FactAccepted && (f.ValidUntil.IsZero() || f.ValidUntil.After(now)):
		return f.ValidFrom
	}
	return time.Time{}
}
