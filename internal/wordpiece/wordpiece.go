// Package wordpiece splits texts into pieces of words as BERT's uncased models do (Wu et al., "Google's Neural
// Machine Translation System", 2016): a text is split into words, and a word into the longest pieces of the
// vocabulary from the left.
//
//	"Zoë isn't kayaking." -> zoe isn ' t kayak ##ing .
//	"我在用Go"             -> 我 在 用 go
package wordpiece

import (
	"strings"
	"unicode/utf8"
)

const (
	maxWord  = 100 // characters of the longest word that is split
	noPieces = -1
)

// unknownPiece stands for a word that cannot be split into pieces.
const unknownPiece = "[UNK]"

// Vocabulary numbers pieces by their places in a list. It is read-only, so that several goroutines may use it.
type Vocabulary struct {
	initial map[string]int32 // number by piece at the beginning of a word
	inner   map[string]int32 // number by piece within a word, without its "##"
	longest int              // bytes of the longest piece
	unknown int32            // number of [UNK]
}

// New returns the vocabulary of a list of pieces, which must contain [UNK]. Pieces within a word begin with "##".
func New(names []string) *Vocabulary {
	v := &Vocabulary{initial: make(map[string]int32, len(names)), inner: make(map[string]int32, len(names)/4)}
	for i, name := range names {
		numbers := v.initial
		if rest, ok := strings.CutPrefix(name, "##"); ok && rest != "" {
			numbers, name = v.inner, rest
		}
		numbers[name] = int32(i)
		v.longest = max(v.longest, len(name))
	}
	v.unknown = v.initial[unknownPiece]
	return v
}

// Number returns the number of a piece that begins a word; false if the vocabulary does not have the piece.
func (v *Vocabulary) Number(piece string) (int32, bool) {
	number, ok := v.initial[piece]
	return number, ok
}

// Splitter iterates over the words of a text. It is reusable and allocates nothing.
type Splitter struct {
	reader
	word   [maxWord * utf8.UTFMax]byte
	size   int // bytes used of word
	length int // characters of the word; word has at most the first maxWord
	mark   rune
}

// Reset starts another text.
func (s *Splitter) Reset(text string) {
	s.text = text
	s.next = 0
	s.head = 0
	s.tail = 0
	s.mark = 0
}

// Scan reads the next word. It returns false at the end of the text.
func (s *Splitter) Scan() bool {
	s.size, s.length = 0, 0
	if s.mark != 0 { // it ended the previous word
		s.add(s.mark)
		s.mark = 0
		return true
	}
	for {
		c, ok := s.read()
		switch {
		case !ok:
			return s.length > 0
		case c == ' ':
			if s.length > 0 {
				return true
			}
		case isMark(c):
			if s.length > 0 {
				s.mark = c
				return true
			}
			s.add(c)
			return true
		default:
			s.add(c)
		}
	}
}

func (s *Splitter) add(c rune) {
	s.length++
	if s.length <= maxWord {
		s.size += utf8.EncodeRune(s.word[s.size:], c)
	}
}

// AppendWord appends the numbers of the pieces of the word that s has read to numbers.
func (v *Vocabulary) AppendWord(numbers []int32, s *Splitter) []int32 {
	if s.length > maxWord {
		return append(numbers, v.unknown)
	}
	before := len(numbers)
	vocabulary, word := v.initial, s.word[:s.size]
	for len(word) > 0 {
		number, size := v.longestPiece(vocabulary, word)
		if number == noPieces {
			return append(numbers[:before], v.unknown)
		}
		numbers = append(numbers, number)
		word, vocabulary = word[size:], v.inner
	}
	return numbers
}

// longestPiece returns the longest piece at the beginning of word.
func (v *Vocabulary) longestPiece(vocabulary map[string]int32, word []byte) (number int32, size int) {
	for size = min(len(word), v.longest); size > 0; size-- {
		if size < len(word) && !utf8.RuneStart(word[size]) {
			continue
		}
		if number, ok := vocabulary[string(word[:size])]; ok {
			return number, size
		}
	}
	return noPieces, 0
}
