package mem0

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"hippocampus/internal/wire"
)

const (
	defaultTop   = 10
	mostTop      = 1000 // of mem0
	mostRecalled = 100  // of /v1
	// defaultThreshold is mem0's. Scores are confidences.
	defaultThreshold = 0.1
)

// recalled is a memory of a recall.
type recalled struct {
	wire.Memory
	Similarity float64 `json:"similarity"`
	Lexical    float64 `json:"lexical"`
	Relevance  float64 `json:"relevance"`
	Confidence float64 `json:"confidence"`
	Decay      float64 `json:"decay"`

	Recollected bool   `json:"recollected"`
	Updates     string `json:"updates"`
}

func search(c *call) (any, error) {
	query, err := c.body.text("query")
	if err != nil {
		return nil, err
	}
	body := map[string]any{"query": query}
	if body["min_confidence"], err = c.threshold(); err != nil {
		return nil, err
	}
	top, err := c.top()
	if err != nil {
		return nil, err
	}
	body["limit"] = max(1, top)
	if raw := c.body["reference_date"]; raw != nil {
		if body["at"], err = timeOf("reference_date", raw); err != nil {
			return nil, err
		}
	}
	names, expired, err := view(c.body)
	if err != nil {
		return nil, err
	}
	if expired {
		body["include_expired"] = true
	}
	further, err := c.conditions(c.body)
	if err != nil {
		return nil, err
	}
	s, err := c.scopeOf(c.body, further...)
	if err != nil {
		return nil, err
	}
	found, degraded := []shown{}, []string{}
	for _, p := range s.users {
		body["user_id"], body["filter"] = p.user, p.filter
		if p.filter == nil {
			delete(body, "filter")
		}
		var answer struct {
			Memories []recalled `json:"memories"`
			Degraded []string   `json:"degraded"`
		}
		if err := c.ask(http.MethodPost, "/v1/recall", body, &answer); err != nil {
			return nil, err
		}
		for _, m := range answer.Memories {
			found = append(found, c.scored(m))
		}
		degraded = append(degraded, answer.Degraded...)
	}
	if len(s.users) > 1 {
		slices.SortStableFunc(found, func(a, b shown) int { return cmp.Compare(*b.Score, *a.Score) })
	}
	results, err := projected(found[:min(top, len(found))], names)
	if err != nil {
		return nil, err
	}
	answer := c.results(results)
	if object, ok := answer.(map[string]any); ok && len(degraded) > 0 {
		slices.Sort(degraded)
		object["degraded"] = slices.Compact(degraded)
	}
	return answer, nil
}

// scored converts a memory of a recall.
func (c *call) scored(m recalled) shown {
	s := c.show(m.Memory)
	s.Score, s.Recollected = &m.Confidence, m.Recollected
	s.Updates = m.Updates
	s.Breakdown = &breakdown{
		Semantic: max(0, m.Similarity), BM25: m.Lexical, Relevance: m.Relevance, Decay: m.Decay, Importance: m.Importance,
	}
	return s
}

// threshold is the least score.
func (c *call) threshold() (float64, error) {
	raw := c.body["threshold"]
	if raw == nil {
		return defaultThreshold, nil
	}
	least, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || raw.Kind() != '0' || least < 0 || least > 1 {
		return 0, invalid("threshold", "is not a number from 0 to 1")
	}
	return least, nil
}

// top is how many memories are wanted.
func (c *call) top() (int, error) {
	name := "top_k"
	if c.body[name] == nil && c.body["limit"] != nil {
		name = "limit"
	}
	top, err := c.body.whole(name, defaultTop, 0, mostTop)
	if err == nil && top > mostRecalled {
		err = invalid(name, "is more than %d, which a search returns at most: POST /mem0/v3/memories/ lists all memories",
			mostRecalled)
	}
	return top, err
}

// conditions returns the conditions on memories that a request states outside of its filters.
func (c *call) conditions(f fields) ([]node, error) {
	p := parser{app: c.app, own: c.form == own}
	var nodes []node
	for _, of := range []struct{ name, field, operator string }{
		{"categories", "categories", "in"},
		{"metadata", "metadata", ""},
		{"start_date", "created_at", "gte"},
		{"end_date", "created_at", "lte"},
	} {
		raw := f[of.name]
		if raw == nil {
			continue
		}
		if of.operator == "in" && raw.Kind() == '"' {
			of.operator = "contains"
		}
		if of.operator != "" {
			raw = jsontext.Value(fmt.Sprintf(`{%q:%s}`, of.operator, raw))
		}
		n, err := p.entry(of.name, of.field, raw, 1)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}
