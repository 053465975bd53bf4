package text

import (
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// exactBytes is how much of a text is really tokenised.
const exactBytes = 64 << 10

// encoding is o200k_base, loaded when it is first needed.
var encoding = sync.OnceValue(func() tokenizer.Codec {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic("the o200k_base encoding is not in this build: " + err.Error())
	}
	return codec
})

// CountTokens returns how many tokens s has in OpenAI's o200k_base encoding, a
// fair estimate for other models too. Of texts over 64 KiB the beginning is
// counted and the rest taken to be as dense.
func CountTokens(s string) int {
	head := s[:min(len(s), exactBytes)]
	count, err := encoding().Count(head)
	if err != nil { // the splitting expression gave up: no text has more tokens than bytes
		return len(s)
	}
	if len(head) < len(s) {
		count = int(int64(count) * int64(len(s)) / int64(len(head)))
	}
	return count
}
