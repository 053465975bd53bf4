package api

import (
	"strings"

	"hippocampus/internal/text"
)

// The first line of a context, by language.
const (
	headerChinese = "【长期记忆】"
	headerEnglish = "[Long-term memory]"
)

// assemble writes contents, best first, as a text for a prompt: a header, then
// one line for each, until the next one would take the text over room. Nothing
// is cut in the middle; where not even the first fits the text is empty. It
// returns how many were kept.
//
// language is "zh", "en" or "" for that of the contents. measure is the size of
// a piece; the sizes of two pieces must add up to at least that of both together.
func assemble(contents []string, language string, room int, measure func(string) int) (prompt string, kept int) {
	var b strings.Builder
	first := header(contents, language)
	b.WriteString(first)
	room -= measure(first)
	for _, content := range contents {
		line := "\n- " + oneLine(content)
		if room -= measure(line); room < 0 {
			break
		}
		b.WriteString(line)
		kept++
	}
	if kept == 0 {
		return "", 0
	}
	return b.String(), kept
}

// header is the first line of a context.
func header(contents []string, language string) string {
	if language == "zh" || language == "" && text.IsChinese(strings.Join(contents, "\n")) {
		return headerChinese
	}
	return headerEnglish
}

// oneLine puts a space in the place of every run of line breaks, so that a
// memory is one line of a prompt whatever it holds.
func oneLine(content string) string {
	return strings.Join(strings.FieldsFunc(content, func(r rune) bool {
		return r >= '\n' && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
	}), " ")
}
