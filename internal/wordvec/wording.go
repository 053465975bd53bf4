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

// script is the class of a character, by which texts are cut into runs.
type script int

const (
	none   script = iota // separates words
	word                 // of a script that writes words
	packed               // Han, kana and Hangul, written without reliable word boundaries
)

// wording hashes how a text is worded (signed feature hashing, Weinberger et
// al., ICML 2009) into two vectors:
//
//	characters: what the table does not know: words with letters beyond ASCII,
//	            words of letters and digits, such as item7x, and each character
//	            and pair of characters of packed scripts
//	signature:  every word, packed character, and pair of neighbours
//
// A feature counts one, at one place of the vector, with a sign.
type wording struct {
	characters [characterDim]int64
	signature  [signatureDim]int64
}

// read adds a text. It allocates nothing.
func (w *wording) read(text string) {
	var (
		before, current uint64 // hashes of the neighbour before and of the word being read; 0: none
		last            script
		beyond          bool // the word being read has letters beyond ASCII, or letters and digits
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
		if kind == none && (unicode.IsMark(c) || c == '\'' || c == '’') && last == word { // accents and don't
			continue
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
			w.character(current)
			if last == packed {
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
	place, sign := spread(hash, characterDim)
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
		return none
	case unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), c == 'ー':
		return packed
	case unicode.IsLetter(c), unicode.IsDigit(c):
		return word
	}
	return none
}

func step(hash uint64, c rune) uint64    { return (hash ^ uint64(c)) * hashPrime }
func pair(before, current uint64) uint64 { return (before*31 ^ current) * hashPrime }

// spread is where a feature counts, and with which sign.
func spread(hash uint64, dim int) (place int, sign int64) {
	hash ^= hash >> 32 // a product's high bits are mixed best, its low ones least
	hash *= hashPrime
	hash ^= hash >> 29
	return int(hash >> 1 & 0x7fffffff % uint64(dim)), 1 - 2*int64(hash&1)
}
