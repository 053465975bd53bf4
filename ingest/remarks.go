package ingest

import (
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer/statement"
)

const (
	minRemarkWords  = 3.0 // fewest content words of a sentence of the assistant that is more than a remark
	likelyStatement = 0.5 // probability from which a sentence of the user counts as a statement
)

// onlyStates reports whether the user asks for nothing in these messages, so that a short
// reply is no answer.
func (s *Service) onlyStates(messages []memory.Message) bool {
	states := false
	for _, m := range messages {
		if m.Role != memory.RoleUser || !m.IsChat() {
			continue
		}
		for _, sentence := range text.Sentences(m.Content) {
			if statement.Read(strings.TrimSpace(sentence)).Statement < likelyStatement && !s.IsSmallTalk(sentence) {
				return false
			}
			states = true
		}
	}
	return states
}

// isRemark reports whether a sentence has so few content words that it answers nothing, such
// as "Boa sorte!". A question is no remark.
func isRemark(sentence string) bool {
	if strings.ContainsAny(sentence, "?？") {
		return false
	}
	words := 0.0
	for _, lexeme := range text.Lexemes(sentence) {
		words++
		if text.IsChinese(lexeme) {
			words -= 0.25 // a Chinese lexeme is a pair of characters, and most words have two
		}
	}
	return words < minRemarkWords
}
