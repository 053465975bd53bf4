// Package request recognises standing requests: how the assistant is to answer or behave from now on, such as "Keep
// your answers short" or 以后叫我老王. A request about one text or one moment, such as "Make it shorter", does not count.
//
// It reads English and Chinese, and prefers to find nothing.
package request

import (
	"slices"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// IsStanding reports whether a sentence is a standing request. It takes time linear in the sentence.
func IsStanding(sentence string) bool {
	patterns, once := english, onceEnglish
	if text.IsChinese(sentence) {
		patterns, once = chinese, onceChinese
	}
	matches := func(p *lazyregexp.Regexp) bool { return p.MatchString(sentence) }
	return !startsStatement(sentence) && !matches(once) && slices.ContainsFunc(patterns, matches)
}

// beginning compiles an expression for the beginning of a sentence, which ignores case.
func beginning(s string) *lazyregexp.Regexp { return lazyregexp.New("(?i)^" + s) }
