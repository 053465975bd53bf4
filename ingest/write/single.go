package write

import (
	"fmt"
	"slices"

	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
	"hippocampus/scorer/attribute"
)

// single returns what a draft means, by rules, for facts that state a single attribute, such as the home: what was said
// later replaces what was said earlier.
func (w *Writer) single(draft memory.Memory, facts []memory.Memory) (verdicts []verdict) {
	claims := w.claimsOf(draft.Content)
	if len(claims) == 0 || draft.Type == memory.TypeMessage {
		return nil
	}
	for _, m := range facts {
		if !alike(&m, &draft) || m.CreatedAt.Equal(draft.CreatedAt) {
			continue
		}
		earlier, later := w.claimsOf(m.Content), claims
		if draft.CreatedAt.Before(m.CreatedAt) {
			earlier, later = later, earlier
		}
		if of, contradicted := attribute.Contradicted(earlier, later); contradicted {
			verdicts = append(verdicts, verdictOn(m, judge.Verdict{
				Decision: judge.Replace, Relation: memory.Contradicts, Why: fmt.Sprintf("a user has one %s at a time", of),
			}))
		}
	}
	return verdicts
}

// claimTheSame reports whether two statements that claim single attributes claim a common one. Similar statements
// about different attributes are not one.
func (w *Writer) claimTheSame(a, b *memory.Memory) bool {
	ofA, ofB := w.claimsOf(a.Content), w.claimsOf(b.Content)
	return len(ofA)+len(ofB) == 0 || attribute.Common(ofA, ofB)
}

// claimAny reports whether any draft that is compared claims a single attribute.
func (w *Writer) claimAny(drafts []Draft) bool {
	return slices.ContainsFunc(drafts, func(d Draft) bool {
		return d.isCompared() && len(w.claimsOf(d.Content)) > 0
	})
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
