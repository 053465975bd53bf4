package ingest

import (
	"fmt"

	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
	"hippocampus/scorer/attribute"
)

// superseding returns what a draft means, by rules, for facts that state a single attribute, such as the home:
// what was said later replaces what was said earlier.
func (s *Service) superseding(draft memory.Memory, facts []memory.Memory) (judged []judgement) {
	claims := s.claimsOf(draft.Content)
	if len(claims) == 0 || draft.Type == memory.TypeMessage {
		return nil
	}
	for _, m := range facts {
		if !alike(m, draft) || m.CreatedAt.Equal(draft.CreatedAt) {
			continue
		}
		earlier, later := s.claimsOf(m.Content), claims
		if draft.CreatedAt.Before(m.CreatedAt) {
			earlier, later = later, earlier
		}
		if of, contradicted := attribute.Contradicted(earlier, later); contradicted {
			judged = append(judged, judgement{
				Verdict: judge.Verdict{Decision: judge.Replace, Relation: memory.Contradicts,
					Why: fmt.Sprintf("a user has one %s at a time", of)},
				id: m.ID, revision: m.Revision, content: m.Content,
			})
		}
	}
	return judged
}

// claimTheSame reports whether two statements that claim single attributes claim a common one. Similar statements
// about different attributes are not one.
func (s *Service) claimTheSame(a, b memory.Memory) bool {
	ofA, ofB := s.claimsOf(a.Content), s.claimsOf(b.Content)
	return len(ofA)+len(ofB) == 0 || attribute.Common(ofA, ofB)
}

// claimsOf returns what a statement claims. Answers are cached, since each of a user's facts is read for each draft.
func (s *Service) claimsOf(statement string) []attribute.Claim {
	if found, ok := s.claims.Get(statement); ok {
		return found
	}
	found := attribute.Of(statement)
	s.claims.Add(statement, found)
	return found
}
