package wordvec

import "unicode/utf8"

const (
	unknown  = 100 // number of [UNK], the piece of a word that cannot be split into pieces
	maxWord  = 100 // characters of the longest word that is split
	noPieces = -1
)

// pieces is the WordPiece vocabulary of BERT's uncased models (Wu et al.,
// "Google's Neural Machine Translation System", 2016): a text is split into words,
// and a word into the longest pieces of the vocabulary from the left.
//
//	"Zoë isn't kayaking." -> zoe isn ' t kayak ##ing .
type pieces struct {
	initial map[string]int32 // number by piece at the beginning of a word
	inner   map[string]int32 // number by piece within a word, without its "##"
	longest int              // bytes of the longest piece
}

// splitter iterates over the words of a text. It is reusable and allocates nothing.
type splitter struct {
	reader
	word   [maxWord * utf8.UTFMax]byte
	size   int // bytes used of word
	length int // characters of the word; word has at most the first maxWord
	mark   rune
}

// reset starts another text.
func (s *splitter) reset(text string) {
	s.text = text
	s.next = 0
	s.head = 0
	s.tail = 0
	s.mark = 0
}

// scan reads the next word into s.word. It returns false at the end of the text.
func (s *splitter) scan() bool {
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

func (s *splitter) add(c rune) {
	s.length++
	if s.length <= maxWord {
		s.size += utf8.EncodeRune(s.word[s.size:], c)
	}
}

// appendWord appends the numbers of a word's pieces to numbers. length is the number
// of characters of the word; word has at most the first maxWord of them.
func (p *pieces) appendWord(numbers []int32, word []byte, length int) []int32 {
	if length > maxWord {
		return append(numbers, unknown)
	}
	before := len(numbers)
	vocabulary := p.initial
	for len(word) > 0 {
		number, size := p.longestPiece(vocabulary, word)
		if number == noPieces {
			return append(numbers[:before], unknown)
		}
		numbers = append(numbers, number)
		word, vocabulary = word[size:], p.inner
	}
	return numbers
}

// longestPiece returns the longest piece at the beginning of word.
func (p *pieces) longestPiece(vocabulary map[string]int32, word []byte) (number int32, size int) {
	for size = min(len(word), p.longest); size > 0; size-- {
		if size < len(word) && !utf8.RuneStart(word[size]) {
			continue
		}
		if number, ok := vocabulary[string(word[:size])]; ok {
			return number, size
		}
	}
	return noPieces, 0
}
