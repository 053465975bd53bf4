package ingest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// maxReply is the most lexemes of a message that is embedded and searched with the question that it answers. Measured
// through turns by defaults, see docs/decisions/0043-a-reply-is-one-item-with-its-question.md.
const maxReply = 30

// noAnswer begins replies that put a question off or state that the speaker cannot answer it. With the question, such a
// reply would match best whenever the question is asked again.
var noAnswer = lazyregexp.New(`(?i)^(?:(?:oh|hm+|well|sorry|unfortunately|(?:my|i) apolog\w+)[,.!… ]+)*(?:` +
	strings.Join([]string{
		`(?:just |please )?(?:one|a|give me a) (?:moment|second|minute)`, `hold on`, `hang on`, `checking`, `good question`,
		`(?:let me|i'?ll|i will) (?:check|see|look|think|find out|get back)`, `(?:i have )?no idea`,
		`(?:i )?(?:honestly |really )?(?:do not|don['’]?t|cannot|can['’]?t) (?:know|remember|recall|say|tell)`,
		`(?:i )?(?:do not|don['’]?t) have (?:that|any|this|access|enough)`, `(?:i['’]?m |i am )?not (?:sure|certain)`,
	}, "|") + `)\b|^(?:嗯|哦|抱歉|对不起|不好意思)*[，,。！!]?(?:` + strings.Join([]string{
	`请?稍等`, `请?等一下`, `等等`, `让我[查看想]`, `我去?[查看]一?[下查看]`, `我?也?(?:不知道|不清楚|不确定|不记得)`,
	`我?没有(?:相关|这方面|关于)`, `无法(?:回答|确定)`, `好问题`,
}, "|") + `)`)

// questionBefore returns the question that a short message answers: the asking sentences of the message before it. It
// returns "" if both messages have the same speaker, or if the short message puts the question off.
func (s *Service) questionBefore(m, previous memory.Message) string {
	if memory.SpeakerOf(m.Role, m.Name) == memory.SpeakerOf(previous.Role, previous.Name) ||
		!s.isQuestion(previous.Content) || len(text.Lexemes(m.Content)) > maxReply ||
		noAnswer.MatchString(strings.TrimSpace(m.Content)) {
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
