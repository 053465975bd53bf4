package api

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"hippocampus/ingest"
)

// The parts of each score, as a client reads them, add up to the score.
func TestRecall_ExplainsScores(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.peanuts()
	f.keep(ingest.Write{Owner: owner("u"), Content: "Eats peanut butter on toast every Monday morning."})
	f.keep(ingest.Write{Owner: owner("u"), Content: "Reads novels."})
	const request = `{"user_id":"u","query":"peanuts","limit":1,"explain":true}`
	type scored struct {
		ID    string             `json:"id"`
		Score float64            `json:"score"`
		Parts map[string]float64 `json:"score_parts"`
	}
	got := fetch[struct {
		Memories    []scored `json:"memories"`
		Explanation struct {
			explanationBody
			LeftOut []struct {
				Reason string `json:"reason"`
				Memory scored `json:"memory"`
			} `json:"left_out"`
		} `json:"explanation"`
	}](f, 200, "POST", "/v1/recall", request)
	all := got.Memories
	for _, l := range got.Explanation.LeftOut {
		all = append(all, l.Memory)
		if l.Reason != "limit" {
			t.Errorf("%+v", l)
		}
	}
	if len(all) != 3 || len(got.Memories) != 1 {
		t.Fatalf("%+v", got)
	}
	for _, m := range all {
		total := 0.0
		for _, part := range m.Parts {
			total += part
		}
		if math.Abs(total-m.Score) > 1e-12 || len(m.Parts) != 15 {
			t.Errorf("%+v has parts that add up to %g", m, total)
		}
	}
	e := got.Explanation
	if e.Mode != "modulated" || e.Weights != (weightsBody{Relevance: .5, Decay: .2, Importance: .3}) ||
		e.DecayRate != .99 || e.Limit != 50 || e.Memories != 3 || e.Matching != 3 || e.Candidates != 3 || len(e.Stages) != 9 {
		t.Errorf("%+v", e)
	}

	var unexplained map[string]json.RawMessage
	body := f.want(200, "POST", "/v1/recall", strings.Replace(request, "true", "false", 1)).Body
	f.must(json.Unmarshal(body.Bytes(), &unexplained))
	if unexplained["explanation"] != nil || strings.Contains(string(unexplained["memories"]), "score_parts") {
		t.Errorf("without explain: %v", unexplained)
	}
	f.wantPaths("POST", "/v1/context", strings.Replace(request, "limit", "max_chars", 1), "explain")
}
