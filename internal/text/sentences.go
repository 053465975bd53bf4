package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences cuts a text after the marks that end sentences, unless these end an abbreviation, and after line ends. The
// sentences keep their marks and spaces: joined they are the text.
func Sentences(s string) []string {
	var list []string
	start, ended := 0, false
	worded := false // it has more than the number of a list item
	for i, r := range s {
		switch {
		case r == '\n':
			list = append(list, s[start:i+1])
			start = i + 1
			ended, worded = false, false
		case strings.ContainsRune("。！？；", r):
			ended = true
		case strings.ContainsRune(".!?;", r):
			// It ends a sentence if a space follows, unlike the points in "3.5" and "e.g.x".
		case unicode.IsSpace(r) && i > start && strings.IndexByte(".!?;", s[i-1]) >= 0:
			ended = ended || worded && !shortens(s[start:i], s[i:])
		case ended && !unicode.IsSpace(r) && !strings.ContainsRune(`”’"'」』)）`, r):
			list = append(list, s[start:i])
			start = i
			ended, worded = false, false
		}
		worded = worded || !strings.ContainsRune("0123456789. \n", r)
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}

// shortens reports whether a text before a space ends with an abbreviation that does not end a sentence: "Mrs.", and
// "No." before a number.
func shortens(before, after string) bool {
	switch word := before[strings.LastIndexAny(before, " \t(")+1:]; word {
	case "Mr.", "Mrs.", "Ms.", "Dr.", "Prof.", "St.", "mr.", "mrs.", "dr.", "prof.", "vs.", "e.g.", "i.e.", "z.B.", "d.h.",
		"bzw.", "ca.":
		return true
	case "No.", "no.", "Nr.", "nr.":
		return len(after) > 1 && '0' <= after[1] && after[1] <= '9'
	}
	return false
}

// Divide cuts a text at the ends of sentences into as few pieces of at most limit characters as it can. The pieces have
// similar lengths, so that no short rest is left. A longer sentence is cut anywhere.
func Divide(s string, limit int) []string {
	list := divide(s, limit)
	if len(list) < 2 {
		return list
	}
	for even := utf8.RuneCountInString(s)/len(list) + 1; even < limit; even += max(1, limit/16) {
		if evenly := divide(s, even); len(evenly) == len(list) {
			return evenly
		}
	}
	return list
}

// divide cuts a text at the ends of sentences into pieces, each as long as limit allows.
func divide(s string, limit int) []string {
	var list []string
	var piece strings.Builder
	size := 0
	flush := func() {
		if content := strings.TrimSpace(piece.String()); content != "" {
			list = append(list, content)
		}
		piece.Reset()
		size = 0
	}
	for _, sentence := range Sentences(s) {
		for _, part := range chunks(sentence, limit) {
			n := utf8.RuneCountInString(part)
			if size+n > limit {
				flush()
			}
			piece.WriteString(part)
			size += n
		}
	}
	flush()
	return list
}

// chunks cuts a text into parts of at most limit characters.
func chunks(s string, limit int) []string {
	if len(s) <= limit {
		return []string{s}
	}
	var list []string
	runes := []rune(s)
	for ; len(runes) > limit; runes = runes[limit:] {
		list = append(list, string(runes[:limit]))
	}
	return append(list, string(runes))
}
