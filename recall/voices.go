package recall

import (
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer/voice"
)

// otherVoice is the share of its confidence that a message keeps if the question is about the user, but the words that
// fit it are another voice's, such as those of a pasted mail.
const otherVoice = 0.5

// ofDocument is the share of its relevance that a passage of a document keeps if the question is about the user, so
// that what the user said comes first.
const ofDocument = 0.7

// aboutSelf matches questions whose subject is the user.
var aboutSelf = lazyregexp.New(`(?i)\b(?:i|we)\b|[我咱俺]`)

// userTerms are the terms of a question about the user; nil if it asks about something else.
type userTerms []string

func userTermsOf(question string) userTerms {
	if !aboutSelf.MatchString(question) {
		return nil
	}
	return queryTerms(question)
}

// isOthers reports whether a message of the user has the terms in spans of another voice alone. Questions in the user's
// own words do not count.
func (terms userTerms) isOthers(m memory.Memory) bool {
	if len(terms) == 0 || m.Type != memory.TypeMessage || m.Speaker == memory.RoleAssistant || m.IsPassage() {
		return false
	}
	if !hasTerm(m.Content, terms) { // most memories end here
		return false
	}
	spans := voice.Spans(m.Content)
	if len(spans) == 1 && spans[0].Kind == voice.Own {
		return false
	}
	found := false // in words of another voice
	for _, s := range spans {
		isOwn := s.Kind == voice.Own
		for _, sentence := range text.Sentences(s.Text) {
			switch {
			case isOwn && strings.ContainsAny(sentence, "?？"): // it says nothing of the user
			case !hasTerm(sentence, terms):
			case isOwn:
				return false
			default:
				found = true
			}
		}
	}
	return found
}

// hasTerm reports whether a text has one of the terms of a query.
func hasTerm(said string, terms []string) bool {
	return slices.ContainsFunc(text.Lexemes(said), func(lexeme string) bool { return slices.Contains(terms, lexeme) })
}

// isTooUnsure reports whether the minimum confidence of a query excludes a memory that was read.
func (q *Query) isTooUnsure(r Recalled) bool {
	return q.MinConfidence != 0 && r.Confidence < q.MinConfidence
}
