package voice

import (
	"strings"
	"time"

	"hippocampus/internal/grounding"
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Lines returns a message as lines of a talk from which facts about the user may be drawn. What another voice says of
// itself in a message of the user is a line of its own, after the user's.
func Lines(role, content string, at time.Time) []grounding.Line {
	own, foreign := content, ""
	if role == memory.RoleUser {
		own, foreign = apart(content)
	}
	lines := []grounding.Line{{
		Source: grounding.Source{Text: own, At: at}, Assistant: role == memory.RoleAssistant,
	}}
	if foreign != "" {
		lines = append(lines, grounding.Line{Source: grounding.Source{Text: foreign, At: at}, Foreign: true})
	}
	return lines
}

var secondPerson = lazyregexp.New(`(?i)\b(?:you|your|yours)\b|[你您]`)

// apart divides a user's message into the sentences that may say something of the user, and the sentences in which
// another voice speaks of itself: those of quotes, mails, chats and documents that have "I" and no "you". "Your
// appointment is on 12 June", of a pasted mail, is about the user.
func apart(message string) (own, foreign string) {
	var ofUser, ofOthers strings.Builder
	for _, span := range Spans(message) {
		clause, said := span.Text, ""
		switch span.Kind {
		case Quote:
			clause, said = speech(span.Text)
		case Mail, Chat, Document:
			clause, said = "", span.Text
		}
		ofUser.WriteString(clause)
		for _, sentence := range text.Sentences(said) {
			to := &ofUser
			if firstPerson.MatchString(sentence) && !secondPerson.MatchString(sentence) {
				to = &ofOthers
			}
			to.WriteString(sentence)
		}
	}
	return ofUser.String(), ofOthers.String()
}
