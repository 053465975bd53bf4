package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// The models that the endpoint of these tests offers.
var (
	modelA = memory.Space{Model: "model-a", Dim: 128}
	modelB = memory.Space{Model: "model-b", Dim: 192}
)

// twoModels answers with both models, slowly enough for a process to be killed during the work.
func twoModels(t *testing.T) *llmtest.Server {
	a, b := llmtest.New(t), llmtest.New(t)
	a.SetDim(modelA.Dim)
	b.SetDim(modelB.Dim)
	a.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply {
		by, wait := a, time.Duration(0)
		switch r.Model {
		case modelA.Model:
		case modelB.Model:
			by, wait = b, 20*time.Millisecond
		default:
			return llmtest.Status(404)
		}
		data := []object{}
		for i, text := range r.Texts {
			data = append(data, object{"object": "embedding", "index": i, "embedding": by.Vector(text)})
		}
		return llmtest.JSON(object{"object": "list", "model": r.Model, "data": data}).After(wait)
	})
	return a
}

// embedding returns the server's state of its embedding models.
func (s *server) embedding() (serving, target string, remaining float64) {
	s.t.Helper()
	e, _ := s.call("GET", "/v1/stats", nil, 200).body["embedding"].(map[string]any)
	serving, _ = e["serving"].(string)
	target, _ = e["target"].(string)
	remaining, _ = e["remaining"].(float64)
	return serving, target, remaining
}

// reader recalls until stop, also during restarts of the server: every answer holds the nearest memory, and no answer
// is degraded, except while a busy Milvus does not answer the server. Only the other answers count.
func (s *server) reader() (stop func() (answers int)) {
	ended := make(chan struct{})
	answers := 0
	var group sync.WaitGroup
	group.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			default:
			}
			item := fmt.Sprintf("item%dx", i*7%300)
			r, err := s.try("POST", "/v1/recall",
				object{"user_id": "ada", "query": "owns " + item, "limit": 5, "touch": false, "route": false})
			time.Sleep(20 * time.Millisecond) // leave the machine to the server, which may be starting
			if err != nil {
				continue
			}
			found := r.list("memories")
			if r.status != 200 || len(found) == 0 ||
				!strings.Contains(contents(found)[0], item) || found[0]["similarity"].(float64) <= 0.1 {
				s.t.Errorf("recall of %s: status %d: %.600s", item, r.status, r.raw)
				return
			}
			if degraded, _ := r.body["degraded"].([]any); len(degraded) > 0 {
				if ready, err := s.try("GET", "/readyz", nil); err == nil && !storeIsAway(ready) {
					s.t.Errorf("recall of %s is degraded: %.600s\n%s", item, r.raw, ready.raw)
					return
				}
				continue
			}
			answers++
		}
	})
	return func() int { close(ended); group.Wait(); return answers }
}

// storeIsAway reports whether the server says, in its answer to GET /readyz, that the vector store does not answer.
func storeIsAway(ready reply) bool {
	store, _ := ready.body["vector_store"].(map[string]any)
	return store["status"] == "unavailable"
}

// settledOn waits until only one model serves and every memory is embedded by it.
func (s *server) settledOn(space memory.Space) {
	s.t.Helper()
	eventually(s.t, space.Model+" serving", func() string {
		serving, target, remaining := s.embedding()
		if serving != space.Model || target != space.Model || remaining != 0 {
			return fmt.Sprintf("%s serves, %s is to, %v remain", serving, target, remaining)
		}
		return ""
	})
	s.storesEqual(space, "ada")
	var done object
	eventually(s.t, "the former vectors being gone", func() string {
		for _, j := range s.call("GET", "/v1/jobs?kind=reembedding", nil, 200).list("jobs") {
			if done, _ = j["result"].(map[string]any); done["to"] == space.Model && j["state"] == "completed" &&
				done["note"] == nil {
				return ""
			}
		}
		return "no job says so"
	})
	job := s.call("POST", "/v1/admin/verify", object{}, 202).body["id"].(string)
	eventually(s.t, "the verification", func() string {
		j := s.call("GET", "/v1/jobs/"+job, nil, 200)
		result, _ := j.body["result"].(map[string]any)
		if j.body["state"] != "completed" {
			return j.raw
		}
		for _, kind := range []string{"missing", "orphaned", "different"} {
			if found := result[kind].(map[string]any); found["count"] != 0.0 {
				s.t.Errorf("%s: %s", kind, j.raw)
			}
		}
		return ""
	})
}

// A changed embedding model takes over while the server serves, in spite of a crash
// during the work; then the built-in model does the same.
func TestReembedding_ChangedModelTakesOver(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		models := twoModels(t)
		endpoint := []string{
			"QWEN_API_KEY=embedding-key",
			"QWEN_API_BASE=" + models.URL(),
			"HIPPOCAMPUS_EMBEDDING_CONCURRENCY=1",
			"HIPPOCAMPUS_PROJECTION_GRACE=1s",
			"HIPPOCAMPUS_RECALL_OWN_WINDOW=5s",
			// A slow machine may degrade an answer; the change of the model must not.
			"HIPPOCAMPUS_RECALL_TIMEOUT=150s",
		}
		s := start(t, slices.Concat(size.settings(t), endpoint, []string{"MEMORY_EMBEDDING_MODEL=" + modelA.Model})...)
		batch := []object{}
		for i := range 300 {
			batch = append(batch,
				object{"user_id": "ada", "content": fmt.Sprintf("The user owns item%dx from shop%d", i, i), "dedup": false})
		}
		s.call("POST", "/v1/memories/batch", object{"memories": batch}, 200)
		s.storesEqual(modelA, "ada")
		// Recall is degraded while all memories are own writes.
		eventually(t, "the vector store alone answering", func() string {
			r := s.call("POST", "/v1/recall",
				object{"user_id": "ada", "query": "item7x", "limit": 1, "touch": false, "route": false}, 200)
			if sources := fmt.Sprint(r.list("memories")[0]["sources"]); strings.Contains(sources, "own_write") {
				return sources
			}
			return ""
		})
		s.stop()

		s.env = append(s.env, "MEMORY_EMBEDDING_MODEL="+modelB.Model)
		s.run()
		eventually(t, "the banner saying what is done", func() string {
			if !strings.Contains(s.printed(), "300 memories are being re-embedded from model-a") {
				return "it does not"
			}
			return ""
		})
		stop := s.reader()
		eventually(t, "some memories being re-embedded", func() string {
			if serving, _, remaining := s.embedding(); serving == modelA.Model && remaining >= 300 {
				return fmt.Sprint(remaining, " remain")
			}
			return ""
		})
		s.kill()
		s.run()
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Written while another model takes over"}, 201)
		s.settledOn(modelB)
		if n := stop(); n < 20 {
			t.Errorf("%d answers during the change", n)
		} else {
			t.Logf("%d answers during the change", n)
		}
		s.stop()

		s.env = append(s.env, "QWEN_API_KEY=", "HIPPOCAMPUS_EMBEDDING_PREVIOUS_API_KEY=embedding-key")
		s.run()
		stop = s.reader()
		s.settledOn(builtin)
		if n := stop(); n < 20 {
			t.Errorf("%d answers on the way back", n)
		}
	})
}

// An operator reads in the server's answer why the model of a request returns no usable answer.
func TestModels_AnswerSaysWhyAModelFails(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		s := start(t, slices.Concat(size.settings(t), impatient, withModels(models))...)
		for _, text := range []string{"Swims on Monday.", "Swims on Friday.", "Swims on Sunday."} {
			s.call("POST", "/v1/memories", object{"user_id": "ada", "content": text}, 201)
		}
		for _, c := range []struct {
			reply  llmtest.Reply
			status int
			why    string
		}{
			{llmtest.Text("well"), 502, "The reason: the model's answer cannot be used: "},
			{llmtest.Raw(`{"error":{"message":"Insufficient Balance"}}`).As(402), 503,
				"status 402 Payment Required: Insufficient Balance: check the account's balance."},
			{llmtest.Raw(`{"error":{"message":"Wrong API key"}}`).As(401), 503, "Wrong API key: check the API key"},
		} {
			models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return c.reply })
			r := s.call("POST", "/v1/reflect", object{"user_id": "ada", "force": true}, c.status)
			if detail, _ := r.body["detail"].(string); !strings.Contains(detail, c.why) {
				t.Errorf("the detail is %q, want %q", detail, c.why)
			}
		}
	})
}
