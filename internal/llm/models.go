package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/sashabaranov/go-openai"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// EmbedderOptions of an embedding model.
type EmbedderOptions struct {
	Model          string
	QueryPrefix    string // prefix of texts that are embedded as queries; bge and e5 need one
	DocumentPrefix string
	Dim            int  // numbers in a vector; 0: Embedder embeds one text to find it
	BatchSize      int  // texts in one request; 0: 10, which is DashScope's limit
	Ollama         bool // the endpoint has Ollama's API instead of the OpenAI one
}

// Embedder returns a model of the endpoint. It scales vectors to unit length. An
// answer of the wrong count, order or dimension, with numbers that are not finite,
// or with a zero vector is an error of KindBadAnswer. A text that the endpoint refuses is embedded in parts.
func (c *Client) Embedder(ctx context.Context, o EmbedderOptions) (Embedder, error) {
	setDefault(&o.BatchSize, 10)
	e := &embedder{client: c, options: o}
	if o.Dim == 0 {
		vectors, err := e.Embed(ctx, ForDocument, []string{"dimension"})
		if err != nil {
			return nil, fmt.Errorf("find the dimension of embedding model %s: %w", o.Model, err)
		}
		e.options.Dim = len(vectors[0])
	}
	return e, nil
}

type embedder struct {
	client  *Client
	options EmbedderOptions
	limit   atomic.Int64 // bytes of the longest text that is not divided; 0: no text was refused for its length
}

func (e *embedder) Model() string { return e.options.Model }
func (e *embedder) Dim() int      { return e.options.Dim }

// embedAll embeds texts as they are.
func (e *embedder) embedAll(ctx context.Context, use Use, texts []string) ([][]float32, error) {
	prefix := e.options.DocumentPrefix
	if use == ForQuery {
		prefix = e.options.QueryPrefix
	}
	vectors := make([][]float32, len(texts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(e.client.options.Concurrency)
	start := 0
	for batch := range slices.Chunk(texts, e.options.BatchSize) {
		into := vectors[start : start+len(batch)]
		start += len(batch)
		group.Go(func() error { return e.embed(ctx, prefix, batch, into) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return vectors, nil
}

// embed sends one request and stores the vector of texts[i] in vectors[i].
func (e *embedder) embed(ctx context.Context, prefix string, texts []string, vectors [][]float32) (err error) {
	api, send := apiOpenAI, e.sendOpenAI
	if e.options.Ollama {
		api, send = apiOllama, e.sendOllama
	}
	ctx, s := e.client.startSpan(ctx, "embeddings", e.options.Model, api)
	defer func() { tracing.End(s, err) }()
	input := make([]string, len(texts))
	for i, text := range texts {
		input[i] = prefix + text
	}
	tokens := 0
	err = e.client.call(ctx, "embedding with "+e.options.Model, func(ctx context.Context) error {
		answer, used, err := send(ctx, input)
		if err != nil {
			return err
		}
		tokens = used
		for _, vector := range answer {
			if dim := e.options.Dim; dim != 0 && len(vector) != dim {
				return memory.Errorf(memory.KindBadAnswer,
					"a vector has %d numbers instead of %d: check the model's name", len(vector), dim)
			}
			if !normalise(vector) {
				return memory.Errorf(memory.KindBadAnswer, "%w", errNoDirection)
			}
		}
		copy(vectors, answer)
		return nil
	})
	if err == nil {
		e.client.count(ctx, memory.EmbeddingTokens, tokens, input...)
	}
	return err
}

var errNoDirection = errors.New("a vector has length zero or numbers that are not finite")

// sendOpenAI returns the vector of input[i] at place i, and the tokens that the endpoint counted, or 0.
func (e *embedder) sendOpenAI(ctx context.Context, input []string) (vectors [][]float32, tokens int, err error) {
	response, err := e.client.api.CreateEmbeddings(ctx, openai.EmbeddingRequestStrings{
		Input:          input,
		Model:          openai.EmbeddingModel(e.options.Model),
		EncodingFormat: openai.EmbeddingEncodingFormatFloat,
	})
	if err != nil {
		return nil, 0, err
	}
	setUsage(trace.SpanFromContext(ctx), Usage{In: response.Usage.PromptTokens})
	if got := len(response.Data); got != len(input) {
		return nil, 0, countError(got, len(input))
	}
	vectors = make([][]float32, len(input))
	for _, item := range response.Data {
		if item.Index < 0 || item.Index >= len(vectors) || vectors[item.Index] != nil {
			return nil, 0, memory.Errorf(memory.KindBadAnswer, "vector index %d is repeated or out of range", item.Index)
		}
		vectors[item.Index] = item.Embedding
	}
	return vectors, response.Usage.PromptTokens, nil
}

// sendOllama is sendOpenAI for Ollama, which answers in the order of the input.
func (e *embedder) sendOllama(ctx context.Context, input []string) (vectors [][]float32, tokens int, err error) {
	request := struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{e.options.Model, input}
	var answer struct {
		Embeddings [][]float32 `json:"embeddings"`
		Tokens     int         `json:"prompt_eval_count"`
	}
	if err := e.client.post(ctx, "/api/embed", request, &answer); err != nil {
		return nil, 0, err
	}
	if got := len(answer.Embeddings); got != len(input) {
		return nil, 0, countError(got, len(input))
	}
	return answer.Embeddings, answer.Tokens, nil
}

func countError(vectors, texts int) error {
	return memory.Errorf(memory.KindBadAnswer, "the answer has %d vectors for %d texts", vectors, texts)
}

// normalise scales v to unit length in place. It returns false if v is zero or its length is not finite.
func normalise(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return false
	}
	for i, x := range v {
		v[i] = float32(float64(x) / length)
	}
	return true
}
