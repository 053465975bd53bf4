package e2e

import (
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// Embeddings come from Ollama, and a reranking model prefers the memory that neither
// words nor vectors find first.
func TestModels_OllamaAndReranker(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		model := llmtest.New(t)
		model.SetDim(96)
		model.OnRerank(func(r llmtest.RerankRequest) llmtest.Reply {
			results := []object{}
			for i, document := range r.Documents {
				score := 0.01
				if strings.Contains(document, "marine") {
					score = 0.98
				}
				results = append(results, object{"index": i, "relevance_score": score})
			}
			return llmtest.JSON(object{"results": results})
		})
		s := start(t, append(size.settings(t),
			"HIPPOCAMPUS_EMBEDDING_API=ollama", "QWEN_API_BASE="+model.OllamaURL(),
			"MEMORY_EMBEDDING_MODEL=nomic-embed-text", "HIPPOCAMPUS_RERANK_BASE_URL="+model.URL())...)
		want := "Ada is a marine biologist"
		for _, content := range []string{"Ada earns her money slowly", want, "How Ada earns money is her own business"} {
			s.call("POST", "/v1/memories", object{"user_id": "ada", "content": content}, 201)
		}
		if model.Embeddings() < 3 {
			t.Errorf("%d calls of /api/embed for three memories", model.Embeddings())
		}
		query := object{"user_id": "ada", "query": "How does Ada earn her money?", "route": false}
		r := s.call("POST", "/v1/recall", query, 200)
		found := r.list("memories")
		if len(found) == 0 || found[0]["content"] != want || found[0]["rerank"] != 0.7 {
			t.Errorf("with a reranker: %s", r.raw)
		}
		eventually(t, "the reranker being ready", func() string {
			ready := s.call("GET", "/readyz", nil, 200)
			if part, _ := ready.body["reranker"].(map[string]any); part["status"] != "ready" {
				return ready.raw
			}
			return ""
		})
		model.OnRerank(func(llmtest.RerankRequest) llmtest.Reply { return llmtest.Cut() })
		r = s.call("POST", "/v1/recall", query, 200)
		found = r.list("memories")
		if len(found) == 0 || found[0]["content"] == want || !slices.Contains(r.body["degraded"].([]any), any("reranker")) {
			t.Errorf("while the reranker is unavailable: %s", r.raw)
		}
	})
}
