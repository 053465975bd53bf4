package ingest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// maxReply is the number of lexemes up to which a message is embedded and searched with what it answers. Measured
// through turns by defaults, see docs/decisions/0043-replies.md.
const maxReply = 30

// questionBefore returns what a short message answers: the sentences of the message before it that ask, if that is
// another speaker's; else "".
func (s *Service) questionBefore(m, previous memory.Message) string {
	if memory.SpeakerOf(m.Role, m.Name) == memory.SpeakerOf(previous.Role, previous.Name) ||
		!s.isQuestion(previous.Content) || len(text.Lexemes(m.Content)) > maxReply {
		return ""
	}
	var asking []string
	room := memory.MaxAskedRunes
	for _, sentence := range slices.Backward(text.Sentences(previous.Content)) {
		sentence = strings.TrimSpace(sentence)
		if room -= utf8.RuneCountInString(sentence) + 1; room < 0 {
			break
		}
		if s.isQuestion(sentence) {
			asking = append(asking, sentence)
		}
	}
	slices.Reverse(asking)
	return strings.Join(asking, " ")
}
