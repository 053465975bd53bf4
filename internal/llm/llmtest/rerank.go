package llmtest

import (
	"net/http"
	"strings"
)

// RerankRequest is a request to a reranking model. Either Documents or Texts is set.
type RerankRequest struct {
	Model     string   `json:"model"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"`
	Texts     []string `json:"texts"`
	Truncate  bool     `json:"truncate"`
}

// OnRerank sets the function that answers reranking calls; nil restores Rerank.
func (s *Server) OnRerank(f func(RerankRequest) Reply) { s.set(func() { s.onRerank = f }) }

// Rerank scores each document by the share of the query's words that it has, best first.
func (s *Server) Rerank(r RerankRequest) Reply {
	words := strings.Fields(strings.ToLower(r.Query))
	results := []any{}
	for shared := len(words); shared >= 0; shared-- {
		for i, document := range r.Documents {
			found := 0
			for _, word := range words {
				if strings.Contains(strings.ToLower(document), word) {
					found++
				}
			}
			if found == shared {
				score := float64(found) / float64(max(1, len(words)))
				results = append(results, map[string]any{"index": i, "relevance_score": score})
			}
		}
	}
	return JSON(map[string]any{"id": "rerank-1", "results": results})
}

func (s *Server) serveRerank(w http.ResponseWriter, r *http.Request) {
	var request RerankRequest
	if _, ok := readJSON(w, r, &request); !ok {
		return
	}
	s.mu.Lock()
	answer := s.onRerank
	down := s.down
	s.mu.Unlock()
	if answer == nil {
		answer = s.Rerank
	}
	reply := Cut()
	if !down {
		reply = answer(request)
	}
	reply.serve(s, w, r)
}

// serveOllama answers embedding calls with Ollama's API.
func (s *Server) serveOllama(w http.ResponseWriter, r *http.Request) {
	s.serveEmbed(w, r, func(request EmbedRequest) Reply {
		vectors := make([][]float32, len(request.Texts))
		for i, text := range request.Texts {
			vectors[i] = s.Vector(text)
		}
		return JSON(map[string]any{"model": request.Model, "embeddings": vectors})
	})
}
