package wordpiece

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// reader normalises the characters of a text for BERT's uncased models: it removes
// control characters and accents, converts to lower case, replaces every white
// space by ' ', and puts spaces around each Chinese character. It allocates nothing.
type reader struct {
	text  string
	next  int     // offset of the next character in text
	queue [8]rune // normalised characters from head to tail
	head  int
	tail  int
}

// read returns the next character, and false at the end of the text.
func (r *reader) read() (rune, bool) {
	for {
		if r.head < r.tail {
			c := r.queue[r.head]
			r.head++
			return c, true
		}
		if r.next == len(r.text) {
			return 0, false
		}
		if c := r.text[r.next]; c > ' ' && c < 0x7f {
			r.next++
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			return rune(c), true
		}
		c, size := utf8.DecodeRuneInString(r.text[r.next:])
		encoded := r.text[r.next : r.next+size]
		r.next += size
		r.head, r.tail = 0, 0
		switch {
		case c == '\t' || c == '\n' || c == '\r':
			return ' ', true
		case c == 0 || c == utf8.RuneError || unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co):
		case unicode.IsSpace(c):
			return ' ', true
		case isChinese(c):
			r.push(' ')
			r.decompose(c, encoded)
			r.push(' ')
		default:
			r.decompose(c, encoded)
		}
	}
}

// decompose queues the canonical decomposition of c without its accents.
func (r *reader) decompose(c rune, encoded string) {
	const ( // Hangul syllables are composed by rule: Unicode, section 3.12
		first, last       = 0xac00, 0xd7a3
		leading           = 0x1100
		vowel             = 0x1161
		trailing          = 0x11a7
		vowels, trailings = 21, 28
	)
	if first <= c && c <= last {
		i := c - first
		r.push(leading + i/(vowels*trailings))
		r.push(vowel + i/trailings%vowels)
		if t := i % trailings; t > 0 {
			r.push(trailing + t)
		}
		return
	}
	parts := norm.NFD.PropertiesString(encoded).Decomposition()
	if parts == nil {
		r.push(c)
	}
	for len(parts) > 0 {
		part, size := utf8.DecodeRune(parts)
		parts = parts[size:]
		r.push(part)
	}
}

// push queues c in lower case, unless it is an accent.
func (r *reader) push(c rune) {
	if unicode.Is(unicode.Mn, c) {
		return
	}
	r.queue[r.tail] = unicode.ToLower(c)
	r.tail++
}

// isChinese reports whether c is Chinese as BERT defines it: an ideograph, not kana or Hangul.
func isChinese(c rune) bool {
	switch {
	case c < 0x3400:
		return false
	case c <= 0x4dbf, 0x4e00 <= c && c <= 0x9fff, 0xf900 <= c && c <= 0xfaff,
		0x20000 <= c && c <= 0x2a6df, 0x2a700 <= c && c <= 0x2b73f, 0x2b740 <= c && c <= 0x2b81f,
		0x2b920 <= c && c <= 0x2ceaf, 0x2f800 <= c && c <= 0x2fa1f:
		return true
	}
	return false
}

// isMark reports whether c is a word of its own.
func isMark(c rune) bool {
	return unicode.IsPunct(c) || c < utf8.RuneSelf && unicode.IsSymbol(c)
}
