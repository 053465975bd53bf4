// Package llm reaches language models and embedders behind the OpenAI API,
// and holds what they answer to a strict form:
//
//	prompt -> Chat -> text -> Decode -> checked value
//	texts  -> Embedder -> unit vectors
//
// Calls have a deadline, a bounded number of retries that honour Retry-After,
// a circuit breaker and a concurrency limit. Errors carry KindUnavailable when
// the endpoint is away, slow, refusing or its breaker open (RetryAfter where
// known), and KindBadAnswer when it answered nonsense.
package llm

import (
	"context"

	"hippocampus/internal/memory"
)

// Prompt is one question to a chat model, to be answered with one JSON object.
type Prompt struct {
	System    string
	User      string
	MaxTokens int // of the answer; 0: the endpoint's default
}

// Chat asks a model. The answer is its text, unchecked: see Decode.
type Chat interface {
	Answer(ctx context.Context, p Prompt) (string, error)
	Model() string
}

// Use says what a text is embedded for: some models want a prefix for each.
type Use int

// The uses of an embedding.
const (
	ForDocument Use = iota
	ForQuery
)

// Embedder turns texts into vectors of Dim numbers and unit length.
type Embedder interface {
	Embed(ctx context.Context, use Use, texts []string) ([][]float32, error)
	Model() string
	Dim() int
}

// Switching is an embedder behind which another one may stand at any time.
type Switching interface {
	Embedder
	Serving() Embedder
}

// Serving is the embedder that e is at this instant. Whoever embeds and then
// says by which model, or compares what it embedded, asks once and keeps to it.
func Serving(e Embedder) Embedder {
	if s, ok := e.(Switching); ok {
		return s.Serving()
	}
	return e
}

// SpaceOf is the space of an embedder's vectors.
func SpaceOf(e Embedder) memory.Space { return memory.Space{Model: e.Model(), Dim: e.Dim()} }
