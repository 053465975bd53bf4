package assembly

import (
	"crypto/rand"
	"crypto/sha256"
	"io"
	"math"
	"unicode/utf8"

	"hippocampus/internal/cache"
	"hippocampus/internal/text"
)

// Counter measures texts.
type Counter struct {
	Encoding text.Encoding // of the tokens; empty: characters are counted
	Scale    float64       // tokens of the model per token of the encoding, at least 1
	counts   *Counts       // nil: no cache
}

// Size of a text.
func (c Counter) Size(s string) int {
	if c.Encoding == "" {
		return utf8.RuneCountInString(s)
	}
	n := 0
	for line := range text.Pieces(s) {
		n += c.counts.tokens(c.Encoding, line)
	}
	return c.scaled(n)
}

// Tokens that a chat request adds to the contents of its messages, by OpenAI's
// cookbook: for each message with its role, and for the request.
const (
	perMessage = 4
	perRequest = 3
)

// message is what a message costs in addition to its content.
func (c Counter) message() int { return c.overhead(perMessage) }

// request is what a request costs in addition to its messages.
func (c Counter) request() int { return c.overhead(perRequest) }

func (c Counter) overhead(tokens int) int {
	if c.Encoding == "" {
		return 0
	}
	return c.scaled(tokens)
}

// unscaled is how many tokens of the encoding, or characters, fit into a size.
func (c Counter) unscaled(size int) int { return int(float64(size) / max(c.Scale, 1)) }

func (c Counter) scaled(tokens int) int { return int(math.Ceil(float64(tokens) * max(c.Scale, 1))) }

// Counts caches the number of tokens of lines, since most lines of a context were in the previous one. It holds no
// text. It is safe for concurrent use.
type Counts struct {
	salt [16]byte // so that a hash reveals nothing of its line
	kept *cache.Cache[int]
}

// NewCounts makes a cache of at most so many bytes.
func NewCounts(bytes int) *Counts {
	c := &Counts{kept: cache.New[int](bytes)}
	_, _ = rand.Read(c.salt[:]) // never fails
	return c
}

func (c *Counts) tokens(e text.Encoding, line string) int {
	if c == nil {
		return text.Tokens(e, line)
	}
	hash := sha256.New()
	_, _ = hash.Write(c.salt[:])
	_, _ = io.WriteString(hash, string(e)+"\x00")
	_, _ = io.WriteString(hash, line)
	key := string(hash.Sum(nil))
	n, ok := c.kept.Get(key)
	if !ok {
		n = text.Tokens(e, line)
		c.kept.Add(key, n, 8)
	}
	return n
}
