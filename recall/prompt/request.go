package prompt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

var (
	// opened begins a question that may lack its mark.
	opened = lazyregexp.New(`(?i)^\W*(?:(?:and|but|so|also|now|ok|okay|hey|hi|hello|then)\W+)?` +
		`(?:what|who|whom|whose|where|when|which|why|how|is|are|was|were|do|does|did|can|could|should|would|will|` +
		`has|had)(?:'s|’s)?\b`)
	holdsChinese = lazyregexp.New(`什么|谁|哪|几|多少|多久|多大|怎么|怎样|如何|为何|是否|是不是|有没有|能不能|可不可以`)

	// requested begins an imperative.
	requested = lazyregexp.New(`(?i)^\W*(?:(?:and|but|so|also|now|ok|okay|hey|hi|hello|then|please|kindly)\W+)*` +
		`(?:tell|remind|show|find|list|give|recommend|suggest|explain|describe|help|write|draft|plan|book|compare|` +
		`summari[sz]e|check|name|recap|look up|pick|choose|answer|continue|remember)\b|` +
		`^\W*(?:请|麻烦|帮我?|告诉|提醒|推荐|列出|列一下|给我|介绍|说说|讲讲|查一?下?|写一?|总结|解释|回忆|根据)`)
)

// requestsSomething reports whether a sentence asks a question or requests something, and names what.
func requestsSomething(sentence string) bool {
	bare := strings.TrimRight(sentence, " \t\r\n)]）」』”\"'’*_~～")
	statement := strings.TrimRight(bare, ".。!！;；")
	isQuestion := endsWith(bare, "?？") || endsWith(statement, "吗呢么") || bare == statement && lacksMark(bare)
	return (isQuestion || requested.MatchString(sentence)) && len(text.Lexemes(sentence)) > 0
}

// leastStated is the least number of lexemes of a statement; "Hi!" and "About Dr." have fewer.
const leastStated = 2

// statesBeforeItAsks reports whether the first sentence of a text states something, and a later one asks or requests.
func statesBeforeItAsks(said string) bool {
	sentences := text.Sentences(said)
	if len(sentences) < 2 {
		return false
	}
	first := strings.TrimSpace(sentences[0])
	return endsWith(first, ".。!！;；") && !requestsSomething(first) && !opened.MatchString(first) &&
		len(text.Lexemes(first)) >= leastStated && slices.ContainsFunc(sentences[1:], func(sentence string) bool {
		return requestsSomething(strings.TrimSpace(sentence))
	})
}

func endsWith(s, characters string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(characters, last)
}

// lacksMark reports whether a sentence without a mark at its end is a question.
func lacksMark(sentence string) bool {
	return opened.MatchString(sentence) || holdsChinese.MatchString(sentence)
}
