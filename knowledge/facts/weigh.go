package facts

import (
	"bytes"
	"fmt"
	"time"

	"hippocampus/internal/memory"
)

// weigh decides what becomes of evidence: a fact that is complete but for its
// state and reason. was is what is valid at its instant, nil where nothing is;
// next is when something else begins or is known to have ended, zero where
// nothing does. It returns the evidence as it is to be recorded, and was as it
// is from then on. docs/flows/conversations.md has the rule.
func weigh(e memory.Fact, was *memory.Fact, next time.Time, trust float64) (memory.Fact, *memory.Fact) {
	stated := e.ValidUntil
	end := earlier(stated, next)
	if was == nil {
		e.State, e.Reason, e.ValidUntil = memory.FactAccepted, "nothing was valid at this instant", end
		return e, nil
	}
	is := *was
	weight, trusted := against(e, is, trust)
	switch {
	case bytes.Equal(e.Value, is.Value):
		e.State, e.Reason = memory.FactConfirmed, fmt.Sprintf("fact %s says the same", is.ID)
		is.Confidence = max(is.Confidence, e.Confidence)
		if !stated.IsZero() && trusted {
			is.ValidUntil = end
		}
	case e.ValidFrom.After(is.ValidFrom) && trusted:
		e.State, e.Reason, e.ValidUntil = memory.FactAccepted, "it is newer, and "+weight, end
		is.ValidUntil = e.ValidFrom
	case e.ValidFrom.Equal(is.ValidFrom) && e.Confidence >= is.Confidence:
		e.State, e.Reason, e.ValidUntil = memory.FactAccepted, "it is of the same instant, and "+weight, end
		is.State, is.Reason, is.ValidUntil = memory.FactReplaced, fmt.Sprintf("fact %s of the same instant took its place", e.ID), time.Time{}
	case e.ValidFrom.Equal(is.ValidFrom):
		e.State, e.Reason = memory.FactRefused, fmt.Sprintf("it is of the same instant, and its confidence of %g is below the %g of fact %s",
			e.Confidence, is.Confidence, is.ID)
	default:
		e.State, e.Reason = memory.FactRefused, weight
	}
	return e, &is
}

// against says how the confidence of evidence compares to a fact's, and
// whether it is enough to replace that from a later instant on.
func against(e, is memory.Fact, trust float64) (why string, enough bool) {
	switch {
	case e.Confidence >= is.Confidence:
		return fmt.Sprintf("its confidence of %g is not below the %g of fact %s", e.Confidence, is.Confidence, is.ID), true
	case e.Confidence >= trust:
		return fmt.Sprintf("its confidence of %g is not below the %g that is trusted", e.Confidence, trust), true
	}
	return fmt.Sprintf("its confidence of %g is below the %g of fact %s and below the %g that is trusted",
		e.Confidence, is.Confidence, is.ID, trust), false
}

// earlier is the first of two instants, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// due is when the memory of a fact must begin or end; zero: it need not.
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
