package e2e

import (
	"strings"
	"sync/atomic"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// A fact that the judge could not be asked about is judged half a minute later.
func TestJudge_IsAskedAgainAfterAFailure(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		vector := make([]float32, llmtest.Dim)
		vector[0] = 1
		models.Embedding("Ada lives in Beijing", vector)
		models.Embedding("Ada moved to Shanghai", vector)
		var isAnswering atomic.Bool
		models.OnPrompt("hippocampus/judge", func(llmtest.ChatRequest) llmtest.Reply {
			if !isAnswering.Load() {
				return llmtest.Status(503)
			}
			return llmtest.Text(`{"decisions":[{"memory":1,"decision":"replace","relation":"contradicts"}]}`)
		})
		s := start(t, append(size.settings(t), withModels(models)...)...)
		write := func(content string) string {
			write := object{"user_id": "ada", "content": content, "dedup": true}
			return s.call("POST", "/v1/memories", write, 201).body["id"].(string)
		}
		old, moved := write("Ada lives in Beijing"), write("Ada moved to Shanghai")
		if got := s.call("GET", "/metrics", nil, 200).raw; !strings.Contains(got, "\nhippocampus_judgements_waiting 1\n") {
			t.Errorf("the metrics: %s", got)
		}
		isAnswering.Store(true)
		eventually(t, "the old home being superseded", func() string {
			r := s.call("GET", "/v1/memories/"+old, nil, 200)
			if r.body["superseded_by"] != moved {
				return r.raw
			}
			return ""
		})
		list := s.call("GET", "/v1/jobs?kind=judge_again", nil, 200).list("jobs")
		if len(list) != 1 {
			t.Errorf("jobs %v", list)
		}
		s.storesEqual(scripted, "ada")
	})
}
