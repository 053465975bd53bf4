package text

import (
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Encoding names one of OpenAI's tokenisations.
type Encoding string

// The encodings.
const (
	O200k  Encoding = "o200k_base"  // of gpt-4o and later models
	CL100k Encoding = "cl100k_base" // of gpt-4 and gpt-3.5
)

// encodings are loaded at their first use.
var encodings = map[Encoding]func() tokenizer.Codec{
	O200k:  loader(tokenizer.O200kBase),
	CL100k: loader(tokenizer.Cl100kBase),
}

func loader(name tokenizer.Encoding) func() tokenizer.Codec {
	return sync.OnceValue(func() tokenizer.Codec {
		codec, err := tokenizer.Get(name)
		if err != nil {
			panic(fmt.Sprintf("the encoding %s is not part of this build: %s", name, err))
		}
		return codec
	})
}

// Known reports whether the encoding exists.
func (e Encoding) Known() bool { return encodings[e] != nil }

// Tokens returns the exact number of tokens of s. It takes about a second for each
// MiB. It panics if the encoding is not Known.
func Tokens(e Encoding, s string) (n int) {
	for piece := range Pieces(s) {
		n += tokensOf(encodings[e](), piece)
	}
	return n
}

// Pieces splits s into pieces whose token counts add up to that of s, in any
// Encoding. It splits after line breaks that precede neither another line break nor
// a slash: within a token, only these can follow a line break. The pieces of spaces
// are short for the tokeniser's sake, which takes quadratic time for lines of spaces.
func Pieces(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 1; i < len(s); i++ {
			if strings.IndexByte("\n\r", s[i-1]) < 0 || strings.IndexByte("\n\r/", s[i]) >= 0 {
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
	if err != nil { // the splitting expression timed out: no text has more tokens than bytes
		return len(s)
	}
	return count
}

// exactBytes is how much of a text CountTokens tokenises.
const exactBytes = 64 << 10

// CountTokens returns the number of tokens of s in o200k_base, which is a fair
// estimate for other models. It extrapolates from the first 64 KiB of a longer text.
func CountTokens(s string) int {
	head := s[:min(len(s), exactBytes)]
	count := Tokens(O200k, head)
	if len(head) < len(s) {
		count = int(int64(count) * int64(len(s)) / int64(len(head)))
	}
	return count
}
