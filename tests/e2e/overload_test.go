package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// held is a word: embeddings and facts of texts with it are not answered until they are released.
const held = "lighthouse"

// holding counts the requests for models that are held until free is called.
type holding struct {
	requests atomic.Int64
	release  chan struct{}
	free     func()
}

// hold makes the models hold texts.
func hold(t *testing.T, models *llmtest.Server) *holding {
	h := &holding{release: make(chan struct{})}
	h.free = sync.OnceFunc(func() { close(h.release) })
	t.Cleanup(h.free) // before the models end, which waits for their requests
	wait := func(text string) {
		if strings.Contains(text, held) {
			h.requests.Add(1)
			<-h.release
		}
	}
	models.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply {
		wait(strings.Join(r.Texts, " "))
		return models.Embed(r)
	})
	models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		wait(r.User)
		return models.Scripted(r)
	})
	return h
}

// until waits until the models hold n requests.
func (h *holding) until(t *testing.T, n int64) {
	t.Helper()
	eventually(t, "held requests", func() string {
		if held := h.requests.Load(); held != n {
			return fmt.Sprintf("%d of %d", held, n)
		}
		return ""
	})
}

// refusedAsBusy sends a request, and expects a refusal that says when to repeat it, since a limit is reached.
func (s *server) refusedAsBusy(method, path string, body any, limit string) {
	s.t.Helper()
	r := s.call(method, path, body, 503)
	detail, _ := r.body["detail"].(string)
	if r.header.Get("Retry-After") != "1" || r.body["type"] != "urn:hippocampus:problem:busy" ||
		!strings.Contains(detail, limit) {
		s.t.Errorf("%s %s: %v %s", method, path, r.header, r.raw)
	}
	counted := fmt.Sprintf("hippocampus_requests_refused_total{limit=%q} ", limit)
	if metrics := s.call("GET", "/metrics", nil, 200).raw; strings.Contains(metrics, counted+"0\n") {
		s.t.Errorf("the metrics do not count the refusal by %s", limit)
	}
}

// contents lists a user's memories.
func (s *server) contents(user string) (list []any) {
	s.t.Helper()
	for _, m := range s.call("GET", "/v1/memories?user_id="+user, nil, 200).list("memories") {
		list = append(list, m["content"])
	}
	return list
}

// While all slots of direct writes are taken, further ones are refused and leave nothing behind, and everything else is
// served. Repeated later, they are stored once.
func TestOverload_RefusesDirectWritesAlone(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		h := hold(t, models)
		s := start(t, append(append(size.settings(t), withModels(models)...),
			"HIPPOCAMPUS_API_MAX_INFLIGHT_WRITES=2", "HIPPOCAMPUS_EMBEDDING_TIMEOUT=5m")...)
		known := s.call("POST", "/v1/memories", object{"user_id": "bea", "content": "Keeps bees"}, 201).body["id"].(string)
		var writers sync.WaitGroup
		for i := range 2 {
			writers.Go(func() {
				content := fmt.Sprintf("Painted the %s %d times", held, i)
				r, err := s.try("POST", "/v1/memories", object{"user_id": "ada", "content": content})
				if err != nil || r.status != 201 {
					t.Errorf("a write in its slot: %v %s", err, r.raw)
				}
			})
		}
		h.until(t, 2)
		excess := object{"user_id": "cem", "content": "Plays the cello", "dedup": true}
		writes := []struct {
			method, path string
			body         any
		}{
			{"POST", "/v1/memories", excess},
			{"POST", "/v1/memories/batch", object{"memories": []object{excess}}},
			{"PATCH", "/v1/memories/" + known, object{"content": "Keeps wasps"}},
			{"PUT", "/v1/facts", object{"user_id": "cem", "type": "hobby", "key": "music", "value": "cello"}},
			{"POST", "/v1/memories/restore", object{"ids": []string{known}}},
		}
		for _, w := range writes {
			s.refusedAsBusy(w.method, w.path, w.body, "api.max_inflight_writes")
		}
		if list := append(s.contents("cem"), s.contents("ada")...); len(list) != 0 {
			t.Errorf("refused writes were stored: %v", list)
		}
		if list := s.contents("bea"); len(list) != 1 || list[0] != "Keeps bees" {
			t.Errorf("a refused change was stored: %v", list)
		}
		s.ready()
		s.call("POST", "/v1/recall", object{"user_id": "bea", "query": "bees"}, 200)
		s.call("POST", "/v1/turns", turn("dan", "I work as a welder."), 200)
		s.call("POST", "/v1/import", s.call("GET", "/v1/export?user_id=bea", nil, 200).raw, 200)
		s.call("DELETE", "/v1/users/dan", nil, 200)
		h.free()
		writers.Wait()
		for range 2 {
			s.call("POST", "/v1/memories", excess, 200, 201)
		}
		if cem, ada := s.contents("cem"), s.contents("ada"); len(cem) != 1 || len(ada) != 2 {
			t.Errorf("stored: %v %v", cem, ada)
		}
	})
}

// While all slots of recalls are taken, further ones are refused, and writes are served.
func TestOverload_RefusesRecallsAlone(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		h := hold(t, models)
		s := start(t, append(append(size.settings(t), withModels(models)...),
			"HIPPOCAMPUS_API_MAX_INFLIGHT=1", "HIPPOCAMPUS_EMBEDDING_TIMEOUT=5m")...)
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Keeps bees"}, 201)
		recalled := make(chan reply, 1)
		go func() {
			r, _ := s.try("POST", "/v1/recall", object{"user_id": "ada", "query": "Which " + held + "?"})
			recalled <- r
		}()
		eventually(t, "the recall's being held", func() string {
			if h.requests.Load() == 0 {
				return "not yet"
			}
			return ""
		})
		s.refusedAsBusy("POST", "/v1/recall", object{"user_id": "ada", "query": "bees"}, "api.max_inflight")
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Plays the cello"}, 201)
		s.call("POST", "/v1/turns", turn("ada", "I work as a welder."), 200)
		s.ready()
		h.free()
		if r := <-recalled; r.status != 200 {
			t.Errorf("the recall in its slot: %s", r.raw)
		}
	})
}

// A turn has a slot until it is stored: not while its client waits for the model.
func TestOverload_WaitingTurnsHaveNoSlot(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		h := hold(t, models)
		s := start(t, append(append(size.settings(t), withModels(models)...),
			"HIPPOCAMPUS_API_MAX_INFLIGHT_TURNS=1")...)
		waits := make(chan reply, 1)
		go func() {
			r, _ := s.try("POST", "/v1/turns", turn("ada", "I painted a "+held+"."))
			waits <- r
		}()
		eventually(t, "the turn's being processed", func() string {
			if h.requests.Load() == 0 {
				return "not yet"
			}
			return ""
		})
		s.call("POST", "/v1/turns", turn("bea", "I work as a welder."), 200)
		h.free()
		if r := <-waits; r.status != 200 || r.body["status"] != "processed" {
			t.Errorf("the turn that waited: %s", r.raw)
		}
	})
}

// While all slots of imports and exports are taken, further ones are refused, and everything else is served.
func TestOverload_RefusesImportsAlone(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		const slots = 8
		var imports sync.WaitGroup
		var streams []*io.PipeWriter
		s.call("POST", "/v1/memories", object{"user_id": "eva", "content": "Swims"}, 201)
		exported := s.call("GET", "/v1/export?user_id=eva", nil, 200).raw
		s.call("DELETE", "/v1/users/eva", nil, 200)
		head, _, _ := strings.Cut(exported, "\n")
		for i := range slots {
			body, stream := io.Pipe()
			streams = append(streams, stream)
			imports.Go(func() {
				req, err := http.NewRequestWithContext(t.Context(), "POST", s.address()+"/v1/import", body)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer "+s.key)
				req.Header.Set("Content-Type", "application/x-ndjson")
				res, err := httpClient.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				res.Body.Close()
				if res.StatusCode != 200 {
					t.Errorf("import %d: %d", i, res.StatusCode)
				}
			})
		}
		for _, stream := range streams {
			if _, err := io.WriteString(stream, head+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "every slot being taken", func() string {
			return strings.TrimPrefix(fmt.Sprint(s.call("GET", "/v1/export?user_id=ada", nil, 200, 503).status), "503")
		})
		s.refusedAsBusy("POST", "/v1/import", exported, "exchanges")
		s.refusedAsBusy("GET", "/v1/export?user_id=ada", nil, "exchanges")
		if list := s.contents("eva"); len(list) != 0 {
			t.Errorf("a refused import was stored: %v", list)
		}
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Plays the cello"}, 201)
		s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "cello"}, 200)
		for _, stream := range streams {
			stream.Close()
		}
		imports.Wait()
		for range 2 {
			s.call("POST", "/v1/import", exported, 200)
		}
		if list := s.contents("eva"); len(list) != 1 {
			t.Errorf("the repeated import: %v", list)
		}
	})
}
