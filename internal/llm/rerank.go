package llm

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"sync/atomic"

	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// Reranker scores how well each document answers a query.
type Reranker interface {
	// Rerank returns the score of documents[i] at place i, 0..1; documents is not empty.
	Rerank(ctx context.Context, query string, documents []string) ([]float64, error)
	Model() string
}

// Reranker returns a reranking model of the endpoint, which answers POST /rerank as Cohere, Jina,
// vLLM and Text Embeddings Inference do. Scores that are not all in 0..1 are taken for
// logits and mapped by the logistic function. An answer without one score for each
// document is an error of KindBadAnswer.
func (c *Client) Reranker(model string) Reranker { return &reranker{client: c, model: model} }

const rerankPath = "/rerank"

type reranker struct {
	client *Client
	model  string
	texts  atomic.Bool // the endpoint has refused the field "documents", and reads "texts"
}

func (r *reranker) Model() string { return r.model }

// rerankRequest has either Documents, with Model and TopN, or Texts, for Text Embeddings Inference.
type rerankRequest struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents,omitempty"`
	TopN      int      `json:"top_n,omitempty"` // answers expected
	Texts     []string `json:"texts,omitempty"`
	Truncate  bool     `json:"truncate,omitempty"` // rather than refuse texts that are too long
}

// rerankScore is one item of an answer. Text Embeddings Inference names the score "score".
type rerankScore struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

func (r *reranker) Rerank(ctx context.Context, query string, documents []string) (scores []float64, err error) {
	ctx, s := r.client.startSpan(ctx, "rerank", r.model, apiCohere)
	defer func() { tracing.End(s, err) }()
	err = r.client.call(ctx, "reranking with "+r.model, func(ctx context.Context) error {
		answer, err := r.send(ctx, query, documents)
		if err != nil {
			return err
		}
		scores, err = readScores(answer, len(documents))
		return err
	})
	return scores, err
}

// send asks in the form that the endpoint accepts, which its first answer shows. If it refuses both
// forms, the error is the refusal of the first one.
func (r *reranker) send(ctx context.Context, query string, documents []string) (answer json.RawMessage, err error) {
	texts := rerankRequest{Query: query, Texts: documents, Truncate: true}
	if r.texts.Load() {
		err = r.client.post(ctx, rerankPath, texts, &answer)
		return answer, err
	}
	request := rerankRequest{Model: r.model, Query: query, Documents: documents, TopN: len(documents)}
	err = r.client.post(ctx, rerankPath, request, &answer)
	var f *failure
	if !errors.As(err, &f) || f.status != http.StatusBadRequest && f.status != http.StatusUnprocessableEntity {
		return answer, err
	}
	if r.client.post(ctx, rerankPath, texts, &answer) != nil {
		return nil, err
	}
	r.texts.Store(true)
	return answer, nil
}

// readScores reads {"results": [{index, relevance_score}]} or [{index, score}].
func readScores(answer json.RawMessage, documents int) ([]float64, error) {
	var list []rerankScore
	err := json.Unmarshal(answer, &list)
	if err != nil {
		var object struct {
			Results []rerankScore `json:"results"`
		}
		if err := json.Unmarshal(answer, &object); err != nil {
			return nil, err
		}
		list = object.Results
	}
	if len(list) != documents {
		return nil, memory.Errorf(memory.KindBadAnswer, "the answer has %d scores for %d documents", len(list), documents)
	}
	scores := make([]float64, documents)
	seen := make([]bool, documents)
	logits := false
	for _, item := range list {
		score := item.Relevance
		if score == nil {
			score = item.Score
		}
		if score == nil || item.Index == nil || *item.Index < 0 || *item.Index >= documents || seen[*item.Index] {
			return nil, memory.Errorf(memory.KindBadAnswer,
				"an item of the answer has no score, or an index that is missing, repeated or out of range")
		}
		seen[*item.Index] = true
		scores[*item.Index] = *score
		logits = logits || *score < 0 || *score > 1
	}
	if logits {
		for i, x := range scores {
			scores[i] = 1 / (1 + math.Exp(-x))
		}
	}
	return scores, nil
}
