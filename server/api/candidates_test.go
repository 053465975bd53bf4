package api

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// proposed reports turns whose candidates the gate refuses, and returns the candidates.
func proposed(t *testing.T, f *fixture, userID string, contents ...string) []memory.Candidate {
	t.Helper()
	var all []memory.Candidate
	defer f.work()()
	for _, content := range contents {
		turn := f.accept(userID, "", content)
		outcome := f.settle(turn.ID)
		if len(outcome.Candidates) != 1 || outcome.Candidates[0].Verdict != memory.BelowThreshold {
			t.Fatalf("%q became %+v", content, outcome.Candidates)
		}
		all = append(all, outcome.Candidates...)
	}
	return all
}

// newStrictFixture returns a fixture whose gate refuses every candidate.
func newStrictFixture(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, nil)
	parts := f.service.Parts
	parts.Scorer = scorer.NewRules()
	f.service = ingest.New(parts, ingest.Settings{
		Threshold: 1.1, Attempts: 1, RetryDelay: time.Second,
		Lease: time.Minute, Renew: time.Hour, Timeout: time.Minute,
	})
	f.restart(func(o *Options) { o.Turns.Ingester, o.Candidates.Promoter = f.service, f.service })
	return f
}

func TestCandidates_AreCountedByImportance(t *testing.T) {
	t.Parallel()
	f := newStrictFixture(t)
	mine := proposed(t, f, "u", "I live in Oslo.", "I work as a nurse.")
	proposed(t, f, "v", "I live in Rome.")
	got := fetch[candidateCountsBody](f, 200, "GET", "/v1/candidates/counts?user_id=u", "")
	total := 0
	for _, c := range got.Counts {
		total += c.Count
		if c.Verdict != memory.BelowThreshold {
			t.Errorf("%+v", c)
		}
	}
	if got.Threshold != 0.7 || total != len(mine) {
		t.Errorf("%+v", got)
	}
	least := min(mine[0].Importance, mine[1].Importance)
	query := fmt.Sprintf("?user_id=u&max_importance=%g", least)
	if below := fetch[candidatesPage](f, 200, "GET", "/v1/candidates"+query, ""); len(below.Candidates) != 0 {
		t.Errorf("less important than the least important one: %+v", below)
	}
	for _, bad := range []string{"/counts", "/counts?user_id=", "?max_importance=2", "?max_importance=x"} {
		f.want(http.StatusBadRequest, "GET", "/v1/candidates"+bad, "")
	}
}

type candidatesPage struct {
	Candidates []proposalBody `json:"candidates"`
	Next       string         `json:"next_cursor"`
}

func TestCandidates_AreListed(t *testing.T) {
	t.Parallel()
	f := newStrictFixture(t)
	mine := proposed(t, f, "u", "I live in Oslo.", "I work as a nurse.")
	proposed(t, f, "v", "I live in Rome.")
	first := fetch[candidatesPage](f, 200, "GET", "/v1/candidates?user_id=u&verdict=below_threshold&limit=1", "")
	if len(first.Candidates) != 1 || first.Candidates[0].ID != mine[1].ID || first.Candidates[0].UserID != "u" ||
		first.Next == "" {
		t.Fatalf("first page %+v", first)
	}
	second := fetch[candidatesPage](f, 200, "GET", "/v1/candidates?user_id=u&limit=1&cursor="+first.Next, "")
	if len(second.Candidates) != 1 || second.Candidates[0].ID != mine[0].ID {
		t.Errorf("second page %+v", second)
	}
	for query, want := range map[string]int{"": 3, "?verdict=kept": 0, "?min_importance=1": 0,
		"?min_importance=0.1&user_id=v": 1} {
		if got := fetch[candidatesPage](f, 200, "GET", "/v1/candidates"+query, ""); len(got.Candidates) != want {
			t.Errorf("%s: %d candidates, want %d", query, len(got.Candidates), want)
		}
	}
	for _, query := range []string{"?verdict=nice", "?min_importance=2", "?min_importance=high", "?min_importance=NaN",
		"?cursor=x", "?color=red"} {
		f.want(http.StatusBadRequest, "GET", "/v1/candidates"+query, "")
	}
}

func TestCandidates_ArePromoted(t *testing.T) {
	t.Parallel()
	f := newStrictFixture(t)
	oslo := proposed(t, f, "u", "I live in Oslo.")[0]
	body := `{"user_id":"u","min_importance":0.1}`
	got := fetch[promotionBody](f, 200, "POST", "/v1/candidates/promote", body)
	if len(got.Results) != 1 || got.Results[0].CandidateID != oslo.ID || got.Results[0].Verdict != memory.Kept ||
		got.More {
		t.Fatalf("promoted %+v", got)
	}
	if m := f.stored(got.Results[0].MemoryID); m.Content != oslo.Content || m.Status != memory.Active {
		t.Errorf("memory %+v", m)
	}
	if again := fetch[promotionBody](f, 200, "POST", "/v1/candidates/promote", body); len(again.Results) != 0 {
		t.Errorf("again %+v", again)
	}
	items := fetch[promotionBody](f, 200, "POST", "/v1/candidates/promote", `{"ids":["`+oslo.ID+`","`+someID+`"]}`)
	if len(items.Results) != 2 || items.Results[0].MemoryID != got.Results[0].MemoryID || items.Results[1].Error == nil ||
		items.Results[1].Error.Status != 404 {
		t.Errorf("by id %+v", items)
	}
	for _, bad := range []string{
		`{}`, `{"ids":[]}`, `{"ids":[""]}`, `{"ids":["a"],"user_id":"u"}`, `{"ids":["a"],"min_importance":0}`,
		`{"user_id":"u"}`,
		`{"min_importance":0.5}`, `{"user_id":"u","min_importance":1.5}`, `{"user_id":"u","min_importance":0.5,"all":true}`,
	} {
		f.want(http.StatusBadRequest, "POST", "/v1/candidates/promote", bad)
	}
}
