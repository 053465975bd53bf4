// Package llm calls language models, embedders and rerankers, with the OpenAI API where it has
// the call, and reads their answers:
//
//	prompt -> Ask -> Chat -> Answer -> Decode -> parse -> value, or one correction
//	texts  -> Embedder -> unit vectors
//	query, documents -> Reranker -> a score of each document
//
// Decode is tolerant about the form of an answer; parse, which the caller gives, is strict
// about its meaning.
//
// Calls have a deadline, a bounded number of retries that honour Retry-After,
// a circuit breaker and a concurrency limit. Errors have KindUnavailable (with
// RetryAfter if known) if the endpoint is unavailable, slow or refuses the request,
// or if the breaker is open, and KindBadAnswer if the answer cannot be used.
package llm

import (
	"context"
	"encoding/json"

	"hippocampus/internal/memory"
)

// Prompt is one question to a chat model. The model must answer with one JSON object.
type Prompt struct {
	Name      string // "score", "judge", ...: what calls are counted by
	System    string
	User      string
	MaxTokens int // of the answer; 0: the endpoint's default

	// Schema is the JSON schema of the answer, for endpoints that enforce one; nil: any object.
	Schema json.RawMessage

	// Refused is the previous answer to this prompt, which was refused, or nil. Ask sets it.
	Refused *Refusal
}

// Chat asks a model. The answer is its text, unchecked: see Ask.
type Chat interface {
	Answer(ctx context.Context, p Prompt) (string, error)
	Model() string
}

// Use says what a text is embedded for: some models need a prefix for each use.
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

// Switching is an embedder that delegates to another one, which may change at any time.
type Switching interface {
	Embedder
	Serving() Embedder
}

// Serving returns the embedder to which e delegates now, or e. A caller that also
// stores the model's name, or compares vectors, must call Serving once and use its
// result for all of that.
func Serving(e Embedder) Embedder {
	if s, ok := e.(Switching); ok {
		return s.Serving()
	}
	return e
}

// SpaceOf is the space of an embedder's vectors.
func SpaceOf(e Embedder) memory.Space { return memory.Space{Model: e.Model(), Dim: e.Dim()} }
