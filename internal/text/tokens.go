package text

import (
	"fmt"
	"iter"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// Encoding names one of OpenAI's ways to cut texts into tokens.
type Encoding string

// The encodings.
const (
	O200k  Encoding = "o200k_base"  // of gpt-4o and later models
	CL100k Encoding = "cl100k_base" // of gpt-4 and gpt-3.5
)

// encodings are loaded when they are first needed.
var encodings = map[Encoding]func() tokenizer.Codec{
	O200k:  loader(tokenizer.O200kBase),
	CL100k: loader(tokenizer.Cl100kBase),
}

func loader(name tokenizer.Encoding) func() tokenizer.Codec {
	return sync.OnceValue(func() tokenizer.Codec {
		codec, err := tokenizer.Get(name)
		if err != nil {
			panic(fmt.Sprintf("the encoding %s is not in this build: %s", name, err))
		}
		return codec
	})
}

// Known reports whether there is such an encoding.
func (e Encoding) Known() bool { return encodings[e] != nil }

// Tokens returns how many tokens s has, however long it is: about a second for
// each MiB. It panics where there is no such encoding.
func Tokens(e Encoding, s string) (n int) {
	for piece := range Pieces(s) {
		n += tokensOf(encodings[e](), piece)
	}
	return n
}

// Pieces cuts s into lines that have as many tokens one by one as together, in
// any Encoding: after a line break that a visible character follows. No token
// holds both, since of what may follow a line break within a token there are
// only line breaks, other spaces and slashes.
func Pieces(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 1; i < len(s); i++ {
			if s[i-1] != '\n' || s[i] == '/' {
				continue
			}
			if r, _ := utf8.DecodeRuneInString(s[i:]); unicode.IsSpace(r) {
				continue
			}
			if !yield(s[start:i]) {
				return
			}
			start = i
		}
		if start < len(s) {
			yield(s[start:])
		}
	}
}

func tokensOf(codec tokenizer.Codec, s string) int {
	count, err := codec.Count(s)
	if err != nil { // the splitting expression gave up: no text has more tokens than bytes
		return len(s)
	}
	return count
}

// exactBytes is how much of a text CountTokens really tokenises.
const exactBytes = 64 << 10

// CountTokens returns how many tokens s has in o200k_base, a fair estimate for
// other models too. Of texts over 64 KiB the beginning is counted and the rest
// taken to be as dense.
func CountTokens(s string) int {
	head := s[:min(len(s), exactBytes)]
	count := tokensOf(encodings[O200k](), head)
	if len(head) < len(s) {
		count = int(int64(count) * int64(len(s)) / int64(len(head)))
	}
	return count
}
