package times

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word in lower case without a possessive, a number, a Chinese character, or a mark.
type token struct {
	word       string
	start, end int  // in the text
	number     int  // -1: it is a word; at most 9999
	ordinal    bool // it is written with a suffix, as in 5th
}

// next cuts the first token of a text from a place on. It returns the places of its first byte and of the end of its
// word, and the end of the whole token; start is len(text) if no token is left.
func next(text string, from int) (start, wordEnd, end int) {
	for from < len(text) {
		c := text[from]
		switch {
		case isLetter(c):
			end = from
			for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
				end++
			}
			return from, end, skipPossessive(text, end)
		case isDigit(c):
			end = from
			for end < len(text) && isDigit(text[end]) {
				end++
			}
			return from, end, end
		case c < utf8.RuneSelf:
			if c > ' ' {
				return from, from + 1, from + 1
			}
			from++
		default:
			r, size := utf8.DecodeRuneInString(text[from:])
			if !unicode.IsSpace(r) {
				return from, from + size, from + size
			}
			from += size
		}
	}
	return len(text), len(text), len(text)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// skipPossessive returns the end of 's at a place of a text; the place itself if there is no such ending.
func skipPossessive(text string, at int) int {
	for _, mark := range []string{"'s", "’s", "'S", "’S"} {
		if after := at + len(mark); strings.HasPrefix(text[at:], mark) && (after == len(text) || !isLetter(text[after])) {
			return after
		}
	}
	return at
}

// tokensOf divides a text. A suffix of an ordinal number belongs to the number.
func tokensOf(text string) []token {
	tokens := make([]token, 0, 4+len(text)/4)
	for at := 0; ; {
		start, wordEnd, end := next(text, at)
		if start == len(text) {
			return tokens
		}
		at = end
		t := token{word: strings.ToLower(text[start:wordEnd]), start: start, end: end, number: -1}
		if isDigit(text[start]) && wordEnd-start <= 4 {
			t.number = 0
			for _, c := range []byte(t.word) {
				t.number = 10*t.number + int(c-'0')
			}
			if at < len(text) && isLetter(text[at]) {
				_, suffixEnd, _ := next(text, at)
				switch strings.ToLower(text[at:suffixEnd]) {
				case "st", "nd", "rd", "th":
					t.ordinal = true
					t.end, at = suffixEnd, suffixEnd
				default:
					t.number = -1 // as in 3pm or 1990s
				}
			}
		}
		tokens = append(tokens, t)
	}
}
