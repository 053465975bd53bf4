package quality

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
)

// oracle is a reranking endpoint that knows the evidence of every question:
//
//	query, documents -> 1 for a document that is evidence of the query, else 0
//
// It shows how much a perfect reranker could improve the order of the found memories.
type oracle struct {
	*httptest.Server
	evidence map[string][]string // the texts of the turns that answer a question
}

// newOracle starts an oracle on a loopback port; the caller closes it.
func newOracle(conversations []conversation) *oracle {
	o := &oracle{evidence: map[string][]string{}}
	for _, c := range conversations {
		texts := map[string]string{}
		for _, t := range c.Turns {
			texts[t.ID] = t.Text
		}
		for _, q := range c.asked() {
			for _, id := range q.Evidence {
				o.evidence[q.Text] = append(o.evidence[q.Text], texts[id])
			}
		}
	}
	o.Server = httptest.NewServer(http.HandlerFunc(o.rerank))
	return o
}

// header matches the part of an embedded text before the words of its turn: "[2026-01-31] Ana: ".
var header = regexp.MustCompile(`^(\[[-0-9]+\] )?([^:]{1,40}: )?`)

func (o *oracle) rerank(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type result struct {
		Index int     `json:"index"`
		Score float64 `json:"relevance_score"`
	}
	results := make([]result, len(request.Documents))
	for i, document := range request.Documents {
		results[i].Index = i
		words := document[len(header.FindString(document)):]
		for _, text := range o.evidence[request.Query] {
			if strings.Contains(text, words) || strings.Contains(document, text) {
				results[i].Score = 1
			}
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"results": results})
}
