package e2e

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/vectorstore/milvus/milvustest"
)

// turns is how many turns a scenario reports: 60, and 300 with scripts/test --long.
var turns = func() int {
	if long {
		return 300
	}
	return 60
}()

// impatient are settings with which work continues within seconds after its
// process was killed.
var impatient = []string{
	"HIPPOCAMPUS_JOBS_LEASE=3s", "HIPPOCAMPUS_ROUTER_TIMEOUT=800ms",
}

var numbered = regexp.MustCompile(`item\d+x`)

// factPerTurn answers every turn with one fact of its own, slowly enough for a
// process to be killed during the call.
func factPerTurn(models *llmtest.Server) {
	models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		item := numbered.FindString(r.User)
		return llmtest.Text(fmt.Sprintf(
			`{"facts":[{"fact":"The user owns %s from shop%s","importance":0.9,"domain":"lifestyle_and_interests"}]}`,
			item,
			item,
		)).After(20 * time.Millisecond)
	})
}

// accept sends the turns from..to with client ids, a few at a time. It sends a turn
// again if the server died before it answered.
func (s *server) accept(from, to int, meanwhile func(accepted int)) {
	s.t.Helper()
	var accepted atomic.Int64
	var group sync.WaitGroup
	numbers := make(chan int)
	var restarting sync.RWMutex
	for range 4 {
		group.Go(func() {
			for i := range numbers {
				for deadline := time.Now().Add(waitLimit); ; {
					restarting.RLock()
					r, err := s.try("POST", "/v1/turns", object{
						"id": fmt.Sprintf("turn-%d", i), "user_id": "ada",
						"messages": []object{{"role": "user", "content": fmt.Sprintf("I bought item%dx today", i)}},
					})
					restarting.RUnlock()
					if err == nil && (r.status == 202 || r.status == 200) {
						break
					}
					if time.Now().After(deadline) {
						s.t.Errorf("turn %d was not accepted within %s: %v %s", i, waitLimit, err, r.raw)
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
				n := int(accepted.Add(1))
				if meanwhile != nil {
					restarting.Lock()
					meanwhile(n)
					restarting.Unlock()
				}
			}
		})
	}
	for i := from; i < to; i++ {
		numbers <- i
	}
	close(numbers)
	group.Wait()
}

// processedOnce waits for every turn and checks that one memory was made from each.
func (s *server) processedOnce() {
	s.t.Helper()
	var memories []string
	for i := range turns {
		ref := fmt.Sprintf("/v1/turns/turn-%d", i)
		var r reply
		eventually(s.t, ref+" being processed", func() string {
			var err error
			if r, err = s.try("GET", ref, nil); err != nil || r.status != 200 {
				return fmt.Sprint(err, r.raw)
			}
			if r.body["status"] != "processed" {
				return r.raw
			}
			return ""
		})
		candidates := r.list("candidates")
		if len(candidates) != 1 || candidates[0]["verdict"] != "kept" {
			s.t.Errorf("%s has candidates %v", ref, candidates)
			continue
		}
		memories = append(memories, candidates[0]["memory_id"].(string))
	}
	slices.Sort(memories)
	if active := s.active("ada"); !slices.Equal(active, memories) {
		s.t.Errorf("%d turns gave %d memories; %d are active", turns, len(memories), len(active))
	}
}

func TestTurns_SurviveKills(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		factPerTurn(models)
		s := start(t, slices.Concat(size.settings(t), withModels(models), impatient)...)
		s.accept(0, turns, func(accepted int) {
			if accepted == turns/3 || accepted == 2*turns/3 {
				s.kill()
				s.run()
			}
		})
		s.kill()
		s.run()
		s.processedOnce()
		s.storesEqual(scripted, "ada")
	})
}

// watchRecall recalls a known memory repeatedly until it is stopped: every answer
// must hold the memory, and there is one at least. It returns the parts that the answers named as degraded.
func (s *server) watchRecall(stop <-chan struct{}) <-chan []string {
	named := make(chan []string, 1)
	go func() {
		seen := map[string]bool{}
		for i := 0; ; i++ {
			r, err := s.try("POST", "/v1/recall", object{
				"user_id": "ada", "query": fmt.Sprintf("the lighthouse keeper of page %d", i), "limit": 20,
				"touch": false, "route": false,
			})
			if err != nil || r.status != 200 || !slices.Contains(contents(r.list("memories")), "Ada met the lighthouse keeper") {
				s.t.Errorf("recall did not answer: %v %s", err, r.raw)
			}
			degraded, _ := r.body["degraded"].([]any)
			for _, part := range degraded {
				seen[part.(string)] = true
			}
			select {
			case <-stop:
				named <- slices.Collect(maps.Keys(seen))
				return
			case <-time.After(betweenRecalls):
			}
		}
	}()
	return named
}

func TestTurns_SurviveMilvusOutage(t *testing.T) {
	t.Parallel()
	models := llmtest.New(t)
	factPerTurn(models)
	proxy := newProxy(t, milvustest.Addr(t))
	s := start(t, slices.Concat(large(t, proxy.Listen), withModels(models), impatient, unwaiting)...)
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada met the lighthouse keeper"}, 201)

	cut(t, proxy)
	stop := make(chan struct{})
	degraded := s.watchRecall(stop)
	s.accept(0, turns/2, nil)
	eventually(t, "the outbox filling up", func() string {
		if n := s.call("GET", "/v1/stats", nil, 200).body["vectors"].(map[string]any)["pending"]; n == nil ||
			n.(float64) < 10 {
			return fmt.Sprint(n)
		}
		return ""
	})
	close(stop)
	if parts := <-degraded; !slices.Contains(parts, "vector_store") {
		t.Errorf("during the Milvus outage recall named %v as degraded", parts)
	}
	if r := s.call("GET", "/readyz", nil, 200); r.body["status"] == "ready" {
		t.Errorf("ready during the Milvus outage: %s", r.raw)
	}

	reconnect(t, proxy)
	s.accept(turns/2, turns, func(accepted int) {
		if accepted == turns/4 {
			s.kill()
			s.run()
		}
	})
	id := s.active("ada")
	s.call("DELETE", "/v1/memories/"+lighthouse(s, id), nil, 200)
	s.processedOnce()
	s.storesEqual(scripted, "ada")
}

// lighthouse returns the id of the memory that watchRecall recalls.
func lighthouse(s *server, ids []string) string {
	for _, id := range ids {
		if s.call("GET", "/v1/memories/"+id, nil, 200).body["content"] == "Ada met the lighthouse keeper" {
			return id
		}
	}
	s.t.Fatal("the memory of the lighthouse keeper is missing")
	return ""
}

func TestTurns_SurviveModelOutage(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		factPerTurn(models)
		s := start(t, slices.Concat(size.settings(t), withModels(models), impatient)...)
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Ada met the lighthouse keeper"}, 201)

		models.SetDown(true)
		stop := make(chan struct{})
		degraded := s.watchRecall(stop)
		s.accept(0, turns/2, nil)
		close(stop)
		if parts := <-degraded; !slices.Contains(parts, "embedder") {
			t.Errorf("during the model outage recall named %v as degraded", parts)
		}
		waiting := s.call("GET", "/v1/turns/turn-0", nil, 200)
		if waiting.body["status"] != "accepted" || len(waiting.list("candidates")) != 0 {
			t.Errorf("a turn without a model: %s", waiting.raw)
		}

		models.SetDown(false)
		s.accept(turns/2, turns, func(accepted int) {
			if accepted == turns/4 {
				s.kill()
				s.run()
			}
		})
		s.call("DELETE", "/v1/memories/"+lighthouse(s, s.active("ada")), nil, 200)
		s.processedOnce()
		s.storesEqual(scripted, "ada")
	})
}
