package voice

import (
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

var (
	ofSelf = lazyregexp.New(`(?i)\b(?:i|my|mine|me|we|our|us)\b|[我咱俺]`)
	ofYou  = lazyregexp.New(`(?i)\b(?:you|your|yours)\b|[你您]`)
)

// Apart divides a user's message into the sentences that may say something of the user, and the sentences in which
// another voice speaks of itself: those of quotes, mails, chats and documents that have "I" and no "you". "Your
// appointment is on 12 June", of a pasted mail, is about the user.
func Apart(message string) (own, foreign string) {
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
			if ofSelf.MatchString(sentence) && !ofYou.MatchString(sentence) {
				to = &ofOthers
			}
			to.WriteString(sentence)
		}
	}
	return ofUser.String(), ofOthers.String()
}
