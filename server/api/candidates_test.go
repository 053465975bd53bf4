package api

import (
	"net/http"
	"testing"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// proposed has the gate refuse everything that a user says.
func proposed(t *testing.T, b *fixture, userID string, contents ...string) []memory.Candidate {
	t.Helper()
	var all []memory.Candidate
	for _, content := range contents {
		turn := b.accept(userID, "", content)
		b.must(b.service.Process(t.Context(), turn.ID))
		outcome := b.settle(turn.ID)
		if len(outcome.Candidates) != 1 || outcome.Candidates[0].Verdict != memory.BelowThreshold {
			t.Fatalf("%q became %+v", content, outcome.Candidates)
		}
		all = append(all, outcome.Candidates...)
	}
	return all
}

// strict is a bench whose gate lets nothing pass.
func strict(t *testing.T) *fixture {
	t.Helper()
	b := newFixture(t, nil)
	parts := b.service.Parts
	parts.Scorer = scorer.NewRules()
	b.service = ingest.New(parts, ingest.Settings{
		Threshold: 1.1, MergeSimilarity: 0.95, OwnLimit: 100, FallbackLimit: 100, Attempts: 1, Lease: 1, ResumeAfter: 1,
	})
	b.restart(func(o *Options) { o.Turns.Ingester, o.Candidates.Promoter = b.service, b.service })
	return b
}

type candidatesPage struct {
	Candidates []proposalBody `json:"candidates"`
	Next       string         `json:"next_cursor"`
}

func TestListCandidates(t *testing.T) {
	t.Parallel()
	b := strict(t)
	mine := proposed(t, b, "u", "I live in Oslo.", "I work as a nurse.")
	proposed(t, b, "v", "I live in Rome.")
	first := parse[candidatesPage](t, b.want(200, "GET", "/v1/candidates?user_id=u&verdict=below_threshold&limit=1", ""))
	if len(first.Candidates) != 1 || first.Candidates[0].ID != mine[1].ID || first.Candidates[0].UserID != "u" || first.Next == "" {
		t.Fatalf("first page %+v", first)
	}
	second := parse[candidatesPage](t, b.want(200, "GET", "/v1/candidates?user_id=u&limit=1&cursor="+first.Next, ""))
	if len(second.Candidates) != 1 || second.Candidates[0].ID != mine[0].ID {
		t.Errorf("second page %+v", second)
	}
	for query, want := range map[string]int{"": 3, "?verdict=kept": 0, "?min_importance=1": 0, "?min_importance=0.1&user_id=v": 1} {
		if got := parse[candidatesPage](t, b.want(200, "GET", "/v1/candidates"+query, "")); len(got.Candidates) != want {
			t.Errorf("%s: %d candidates, want %d", query, len(got.Candidates), want)
		}
	}
	for _, query := range []string{"?verdict=nice", "?min_importance=2", "?min_importance=high", "?min_importance=NaN", "?cursor=x", "?color=red"} {
		b.want(http.StatusBadRequest, "GET", "/v1/candidates"+query, "")
	}
}

func TestPromoteCandidates(t *testing.T) {
	t.Parallel()
	b := strict(t)
	oslo := proposed(t, b, "u", "I live in Oslo.")[0]
	body := `{"user_id":"u","min_importance":0.1}`
	got := parse[promotionBody](t, b.want(200, "POST", "/v1/candidates/promote", body))
	if len(got.Results) != 1 || got.Results[0].CandidateID != oslo.ID || got.Results[0].Verdict != memory.Kept || got.More {
		t.Fatalf("promoted %+v", got)
	}
	if m := b.stored(got.Results[0].MemoryID); m.Content != oslo.Content || m.Status != memory.Active {
		t.Errorf("memory %+v", m)
	}
	if again := parse[promotionBody](t, b.want(200, "POST", "/v1/candidates/promote", body)); len(again.Results) != 0 {
		t.Errorf("again %+v", again)
	}
	items := parse[promotionBody](t, b.want(200, "POST", "/v1/candidates/promote", `{"ids":["`+oslo.ID+`","`+someID+`"]}`))
	if len(items.Results) != 2 || items.Results[0].MemoryID != got.Results[0].MemoryID || items.Results[1].Error == nil || items.Results[1].Error.Status != 404 {
		t.Errorf("by id %+v", items)
	}
	for _, bad := range []string{
		`{}`, `{"ids":[]}`, `{"ids":[""]}`, `{"ids":["a"],"user_id":"u"}`, `{"ids":["a"],"min_importance":0}`, `{"user_id":"u"}`,
		`{"min_importance":0.5}`, `{"user_id":"u","min_importance":1.5}`, `{"user_id":"u","min_importance":0.5,"all":true}`,
	} {
		b.want(http.StatusBadRequest, "POST", "/v1/candidates/promote", bad)
	}
}
