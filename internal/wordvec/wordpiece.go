package wordvec

import "unicode/utf8"

const (
	unknown  = 100 // the number of [UNK], for a word that no pieces make up
	maxWord  = 100 // characters; a longer word is unknown
	noPieces = -1
)

// pieces is the WordPiece vocabulary of BERT's uncased models (Wu et al.,
// "Google's Neural Machine Translation System", 2016): a text is cut into words,
// and a word into the longest known pieces from the left.
//
//	"Zoë isn't kayaking." -> zoe isn ' t kayak ##ing .
type pieces struct {
	initial map[string]int32 // piece that begins a word -> its number
	inner   map[string]int32 // piece within a word, less its "##" -> its number
	longest int              // bytes of the longest piece
}

// splitter goes through the words of a text. It is reused and allocates nothing.
type splitter struct {
	reader
	word   [maxWord * utf8.UTFMax]byte
	size   int // bytes used of word
	length int // characters of the word; past maxWord they are only counted
	mark   rune
}

// reset begins another text.
func (s *splitter) reset(text string) {
	s.text, s.next, s.head, s.tail, s.mark = text, 0, 0, 0, 0
}

// scan puts the next word into s.word; false: there is none.
func (s *splitter) scan() bool {
	s.size, s.length = 0, 0
	if s.mark != 0 { // ended the word before
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

func (s *splitter) add(c rune) {
	if s.length++; s.length <= maxWord {
		s.size += utf8.EncodeRune(s.word[s.size:], c)
	}
}

// appendWord adds the numbers of a word's pieces to numbers. The word has length
// characters, of which it holds the first maxWord.
func (p *pieces) appendWord(numbers []int32, word []byte, length int) []int32 {
	if length > maxWord {
		return append(numbers, unknown)
	}
	before := len(numbers)
	known := p.initial
	for len(word) > 0 {
		number, size := p.longestPiece(known, word)
		if number == noPieces {
			return append(numbers[:before], unknown)
		}
		numbers = append(numbers, number)
		word, known = word[size:], p.inner
	}
	return numbers
}

// longestPiece is the longest known piece at the beginning of word.
func (p *pieces) longestPiece(known map[string]int32, word []byte) (number int32, size int) {
	for size = min(len(word), p.longest); size > 0; size-- {
		if size < len(word) && !utf8.RuneStart(word[size]) {
			continue
		}
		if number, ok := known[string(word[:size])]; ok {
			return number, size
		}
	}
	return noPieces, 0
}
