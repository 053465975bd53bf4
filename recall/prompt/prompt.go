// Package prompt finds what a prompt asks for, so that a search need not match everything that was pasted around it:
//
//	text -> without contexts of this server -> the user's own lines (scorer/voice) -> paragraphs
//	     -> sentences that ask or request -> parts
//
// It knows the forms of English and Chinese, and takes time in proportion to the length of the text.
package prompt

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/heading"
	"hippocampus/internal/text"
	"hippocampus/scorer/voice"
)

const (
	// shortest is the length, in characters, of the texts of one line that are queries by themselves, unless a statement
	// is before what they ask.
	shortest = 80
	// Longest is the most characters of a part.
	Longest = 300
	// mostRequests is how many sentences become parts: the first one and the last ones.
	mostRequests = 3
	// outlineHalf is how many characters of its beginning, and of its end, stand for a whole prompt.
	outlineHalf = 500
)

// Parts returns the parts of a prompt to search for: the sentences that ask or request, and the paragraph of the last
// one of them; without such a sentence, the first and the last paragraph, pasted or not. It returns nil if the text is
// a query by itself.
func Parts(prompt string) []string {
	prompt = strings.TrimSpace(prompt)
	said := withoutContexts(prompt)
	if utf8.RuneCountInString(said) <= shortest && !strings.Contains(said, "\n") && !statesBeforeItAsks(said) {
		return distinct(prompt, said)
	}
	lines := voice.OwnLines(said)
	if last := said[strings.LastIndexByte(said, '\n')+1:]; requestsSomething(last) {
		lines[len(lines)-1] = last // it may follow a mail without an end
	}
	paragraphs := paragraphsOf(lines)
	if len(paragraphs) == 0 { // all of it was pasted, or there are no words
		paragraphs = paragraphsOf([]string{said})
	}
	if len(paragraphs) == 0 {
		return nil
	}
	var requests []string
	context := "" // the paragraph of the last request
	for _, p := range paragraphs {
		for _, sentence := range text.Sentences(p) {
			if sentence = strings.TrimSpace(sentence); requestsSomething(sentence) {
				requests = append(requests, end(sentence))
				context = p
			}
		}
	}
	if len(requests) == 0 {
		paragraphs = paragraphsOf(slices.Collect(strings.Lines(said)))
		return distinct(prompt, beginning(paragraphs[0]), end(paragraphs[len(paragraphs)-1]))
	}
	if n := len(requests); n > mostRequests {
		requests = append(requests[:1:1], requests[n-mostRequests+1:]...)
	}
	return distinct(prompt, append(requests, end(context))...)
}

// withoutContexts returns a prompt without the contexts of this server in it, unless it has nothing else.
func withoutContexts(prompt string) string { return cmp.Or(heading.WithoutContexts(prompt), prompt) }

// Outline returns a prompt without the contexts of this server, or the beginning and the end of a long one.
func Outline(prompt string) string {
	prompt = withoutContexts(prompt)
	if utf8.RuneCountInString(prompt) <= 2*outlineHalf {
		return prompt
	}
	runes := []rune(prompt)
	return string(runes[:outlineHalf]) + "\n" + string(runes[len(runes)-outlineHalf:])
}

// paragraphsOf joins lines to paragraphs, which blank lines separate. A paragraph has a letter or a digit.
func paragraphsOf(lines []string) (paragraphs []string) {
	var b strings.Builder
	flush := func() {
		p := strings.TrimSpace(b.String())
		if strings.ContainsFunc(p, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			paragraphs = append(paragraphs, p)
		}
		b.Reset()
	}
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			flush()
		}
		b.WriteString(line)
	}
	flush()
	return paragraphs
}

// distinct returns the different parts that are not the whole prompt.
func distinct(prompt string, parts ...string) (list []string) {
	for _, part := range parts {
		if part != prompt && !slices.Contains(list, part) {
			list = append(list, part)
		}
	}
	return list
}

// beginning and end cut a text to its first or last characters.
func beginning(s string) string { return clip(s, func(runes []rune) []rune { return runes[:Longest] }) }

func end(s string) string {
	return clip(s, func(runes []rune) []rune { return runes[len(runes)-Longest:] })
}

func clip(s string, cut func([]rune) []rune) string {
	if len(s) <= Longest {
		return s
	}
	runes := []rune(s)
	if len(runes) > Longest {
		runes = cut(runes)
	}
	return strings.TrimSpace(string(runes))
}
