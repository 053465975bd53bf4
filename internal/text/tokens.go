package text

import (
	"fmt"
	"iter"
	"sync"
	"unicode"
	"unicode/utf8"

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
// Encoding. It splits after a line break that precedes a visible character other
// than a slash: within a token, only line breaks, other spaces and slashes can
// follow a line break.
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
	count := tokensOf(encodings[O200k](), head)
	if len(head) < len(s) {
		count = int(int64(count) * int64(len(s)) / int64(len(head)))
	}
	return count
}
