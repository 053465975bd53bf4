package write

import (
	"context"
	"fmt"
	"slices"

	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
	"hippocampus/scorer/attribute"
)

// single returns what a draft means, by rules, for facts that state a single attribute, such as the home, or something
// that the draft says has ended: a later statement of a person replaces the earlier one. A summary states many things:
// it neither replaces a fact nor is replaced.
func (w *Writer) single(draft memory.Memory, facts []memory.Memory) (verdicts []verdict) {
	if !w.mayReplace(draft.Content) || draft.Type == memory.TypeMessage || draft.Type == memory.TypeSummary {
		return nil
	}
	change := w.changeOf(draft.Content)
	for _, m := range facts {
		isAnothers := draft.Speaker == "" && m.SaidOf() != ""
		if !mayContradict(&m, &draft) || m.Type == memory.TypeSummary || m.Speaker != draft.Speaker && !isAnothers ||
			m.Said().Equal(draft.Said()) {
			continue
		}
		why, known := "", m.Content
		if isAnothers {
			known = inFirstPerson(known, m.SaidOf())
		}
		switch isLater := draft.Said().Before(m.Said()); {
		case isLater && isAnothers: // another person's words do not replace the user's
		case isLater:
			why = w.outdated(draft.Content, m.Content, w.changeOf(m.Content))
		default:
			why = w.outdated(known, draft.Content, change)
		}
		if why != "" {
			verdicts = append(verdicts, verdictOn(m, judge.Verdict{
				Decision: judge.Replace, Relation: memory.Contradicts, Why: why,
			}))
		}
	}
	return verdicts
}

// Replaces returns why a fact of a turn would replace, by rules, an active fact that was said before it, or that the
// turn has stated it already; "" if neither is so.
func (w *Writer) Replaces(ctx context.Context, fact memory.Memory) (why string, err error) {
	if !w.mayReplace(fact.Content) {
		return "", nil
	}
	active, err := w.activeFacts(ctx, fact.Owner)
	if err != nil {
		return "", err
	}
	var earlier []memory.Memory
	for _, m := range active {
		switch {
		case m.Content == fact.Content && m.SourceTurnID == fact.SourceTurnID:
			return "it is an active fact", nil
		case m.Said().Before(fact.Said()):
			earlier = append(earlier, m)
		}
	}
	if verdicts := w.single(fact, earlier); len(verdicts) > 0 {
		why = verdicts[0].Why
	}
	return why, nil
}

// mayContradict reports whether a draft may contradict a memory. A derived draft does not contradict a condensed
// memory, since others were derived from that.
func mayContradict(m, draft *memory.Memory) bool {
	return alike(m, draft) && (m.Status == memory.Active || !draft.Type.IsDerived())
}

// outdated returns why a later statement, which makes change, replaces an earlier one; "" if it does not.
func (w *Writer) outdated(earlier, later string, change attribute.Change) string {
	claims := w.claimsOf(earlier)
	if of, contradicted := attribute.Contradicted(claims, w.claimsOf(later)); contradicted {
		return fmt.Sprintf("a user has one %s at a time", of)
	}
	why, _ := change.Ends(earlier, claims)
	return why
}

// mayReplace reports whether a statement may replace others by rules, or be replaced.
func (w *Writer) mayReplace(statement string) bool {
	return len(w.claimsOf(statement)) > 0 || !w.changeOf(statement).IsZero()
}

// claimTheSame reports whether two statements that claim single attributes claim a common one. Similar statements about
// different attributes do not say the same.
func (w *Writer) claimTheSame(a, b *memory.Memory) bool {
	ofA, ofB := w.claimsOf(a.Content), w.claimsOf(b.Content)
	return len(ofA)+len(ofB) == 0 || attribute.Common(ofA, ofB)
}

// claimAny reports whether any draft that is compared claims a single attribute or says that something has changed.
func (w *Writer) claimAny(drafts []Draft) bool {
	return slices.ContainsFunc(drafts, func(d Draft) bool {
		return d.isCompared() && w.mayReplace(d.Content)
	})
}

// sparing returns the drafts, and compares by rules only those that a rule concerns.
func (w *Writer) sparing(drafts []Draft) []Draft {
	drafts = slices.Clone(drafts)
	for i, d := range drafts {
		if d.Compare == ByRules && !w.mayReplace(d.Content) {
			drafts[i].Compare = Alone
		}
	}
	return drafts
}

// claimsOf returns what a statement claims. Answers are cached, since each of a user's facts is read for each draft.
func (w *Writer) claimsOf(statement string) []attribute.Claim {
	if found, ok := w.claims.Get(statement); ok {
		return found
	}
	found := attribute.Of(statement)
	w.claims.Add(statement, found)
	return found
}

// changeOf returns what a statement changes of earlier ones. Answers are cached as those of claimsOf are.
func (w *Writer) changeOf(statement string) attribute.Change {
	if found, ok := w.changes.Get(statement); ok {
		return found
	}
	found := attribute.ChangeOf(statement)
	w.changes.Add(statement, found)
	return found
}
