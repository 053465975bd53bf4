package wordvec

import (
	"unicode"
	"unicode/utf8"
)

// FNV-1a over characters.
const (
	hashSeed  = 14695981039346656037
	hashPrime = 1099511628211
)

// script is the class of a character. A text is split into runs of one class.
type script int

const (
	separator script = iota
	word             // of a script with word boundaries
	packed           // Han, kana and Hangul, which have no reliable word boundaries
)

// wording hashes the words of a text (signed feature hashing, Weinberger et al.,
// ICML 2009) into two vectors:
//
//	characters: what the table does not contain: words with letters beyond ASCII,
//	            words of letters and digits, such as item7x, and each character
//	            and pair of characters of packed scripts
//	signature:  every word, packed character, and pair of neighbours
//
// A feature adds 1 or -1 to one number of the vector.
type wording struct {
	characters [CharacterDim]int64
	signature  [signatureDim]int64

	withoutHan bool // Han characters do not belong to characters
}

// read adds a text. It allocates nothing.
func (w *wording) read(text string) {
	var (
		before, current uint64 // hashes of the previous and the current word; 0 at the beginning
		last            script
		beyond          bool // the current word has letters beyond ASCII, or letters and digits
		digit           bool // its last character is a digit
	)
	end := func() {
		if last == word {
			if beyond {
				w.character(current)
			}
			w.sign(before, current)
			before = current
		}
	}
	for _, c := range text {
		kind := classify(c)
		if kind == separator && (unicode.IsMark(c) || c == '\'' || c == '’') && last == word {
			continue // an accent, or the apostrophe of "don't"
		}
		c = unicode.ToLower(c)
		switch {
		case kind == word && last == word:
			current, beyond = step(current, c), beyond || c >= utf8.RuneSelf || digit != unicode.IsDigit(c)
		case kind == word:
			current, beyond = step(hashSeed, c), c >= utf8.RuneSelf
		default:
			end()
		}
		digit = unicode.IsDigit(c)
		if kind == packed {
			current = step(hashSeed, c)
			hashed := !w.withoutHan || !unicode.Is(unicode.Han, c)
			if hashed {
				w.character(current)
			}
			if hashed && last == packed {
				w.character(pair(before, current))
			}
			w.sign(before, current)
			before = current
		}
		last = kind
	}
	end()
}

func (w *wording) character(hash uint64) {
	place, sign := spread(hash, CharacterDim)
	w.characters[place] += sign
}

func (w *wording) sign(before, current uint64) {
	place, sign := spread(current, signatureDim)
	w.signature[place] += sign
	place, sign = spread(pair(before, current), signatureDim)
	w.signature[place] += sign
}

func classify(c rune) script {
	switch {
	case c < utf8.RuneSelf:
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			return word
		}
		return separator
	case unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), c == 'ー':
		return packed
	case unicode.IsLetter(c), unicode.IsDigit(c):
		return word
	}
	return separator
}

func step(hash uint64, c rune) uint64    { return (hash ^ uint64(c)) * hashPrime }
func pair(before, current uint64) uint64 { return (before*31 ^ current) * hashPrime }

// spread is the index and the sign of a feature.
func spread(hash uint64, dim int) (place int, sign int64) {
	hash ^= hash >> 32 // the high bits of a product are mixed best
	hash *= hashPrime
	hash ^= hash >> 29
	return int(hash >> 1 & 0x7fffffff % uint64(dim)), 1 - 2*int64(hash&1)
}
