package llm_test

import (
	"math"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestRerank_SendsQueryAndDocuments(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	var asked llmtest.RerankRequest
	server.OnRerank(func(r llmtest.RerankRequest) llmtest.Reply {
		asked = r
		return server.Rerank(r)
	})
	reranker := dial(t, server.URL(), nil).Reranker("rerank-v3.5")
	scores, err := reranker.Rerank(t.Context(), "green tea", []string{"coffee", "tea", "green tea"})
	if err != nil || reranker.Model() != "rerank-v3.5" {
		t.Fatal(err)
	}
	if want := []float64{0, 0.5, 1}; !slices.Equal(scores, want) {
		t.Errorf("scores %v instead of %v", scores, want)
	}
	want := llmtest.RerankRequest{
		Model: "rerank-v3.5", Query: "green tea", Documents: []string{"coffee", "tea", "green tea"}, TopN: 3,
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

// Text Embeddings Inference reads the field texts and answers with an array.
func TestRerank_LearnsTheFormOfTheEndpoint(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	var forms []string
	server.OnRerank(func(r llmtest.RerankRequest) llmtest.Reply {
		if r.Texts == nil {
			forms = append(forms, "documents")
			return llmtest.Raw("missing field `texts`").As(http.StatusUnprocessableEntity)
		}
		forms = append(forms, "texts")
		if !r.Truncate {
			t.Error("a text that is too long would be refused")
		}
		return llmtest.Raw(`[{"index":1,"score":0.9},{"index":0,"score":0.2}]`)
	})
	reranker := dial(t, server.URL(), nil).Reranker("bge-reranker")
	for range 2 {
		scores, err := reranker.Rerank(t.Context(), "q", []string{"a", "b"})
		if err != nil || !slices.Equal(scores, []float64{0.2, 0.9}) {
			t.Fatal(scores, err)
		}
	}
	if want := []string{"documents", "texts", "texts"}; !slices.Equal(forms, want) {
		t.Errorf("requests %v instead of %v", forms, want)
	}
}

func TestRerank_MapsLogits(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.OnRerank(func(llmtest.RerankRequest) llmtest.Reply {
		return llmtest.Raw(`{"results":[{"index":0,"relevance_score":-2},{"index":1,"relevance_score":0.5}]}`)
	})
	scores, err := dial(t, server.URL(), nil).Reranker("m").Rerank(t.Context(), "q", []string{"a", "b"})
	want := []float64{1 / (1 + math.Exp(2)), 1 / (1 + math.Exp(-0.5))}
	if err != nil || !cmp.Equal(scores, want, cmpopts.EquateApprox(0, 1e-12)) {
		t.Errorf("%v instead of %v: %v", scores, want, err)
	}
}

func TestRerank_RefusesBadAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply llmtest.Reply
		kind  memory.Kind
	}{
		"too few":       {llmtest.Raw(`{"results":[{"index":0,"relevance_score":0.5}]}`), memory.KindBadAnswer},
		"repeated":      {llmtest.Raw(`[{"index":1,"score":0.5},{"index":1,"score":0.4}]`), memory.KindBadAnswer},
		"out of range":  {llmtest.Raw(`[{"index":0,"score":0.5},{"index":2,"score":0.4}]`), memory.KindBadAnswer},
		"negative":      {llmtest.Raw(`[{"index":-1,"score":0.5},{"index":1,"score":0.4}]`), memory.KindBadAnswer},
		"without index": {llmtest.Raw(`[{"score":0.5},{"index":1,"score":0.4}]`), memory.KindBadAnswer},
		"without score": {llmtest.Raw(`[{"index":0},{"index":1,"score":0.4}]`), memory.KindBadAnswer},
		"no JSON":       {llmtest.Raw(`<html>`), memory.KindBadAnswer},
		"a text":        {llmtest.Raw(`"ok"`), memory.KindBadAnswer},
		"refused":       {llmtest.Status(http.StatusUnprocessableEntity), memory.KindUnavailable},
		"a wrong key":   {llmtest.Status(http.StatusUnauthorized), memory.KindUnavailable},
		"unavailable":   {llmtest.Cut(), memory.KindUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.New(t)
			server.OnRerank(func(llmtest.RerankRequest) llmtest.Reply { return test.reply })
			scores, err := dial(t, server.URL(), nil).Reranker("m").Rerank(t.Context(), "q", []string{"a", "b"})
			if !memory.IsKind(err, test.kind) || scores != nil {
				t.Errorf("%v, %v", scores, err)
			}
		})
	}
}
