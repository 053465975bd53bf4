package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/vectorstore/milvus/milvustest"
)

// keeper is a memory that the question beacon finds only by its embedding: they
// share no word, and no other memory is near.
const (
	keeper = "Ada met the lighthouse keeper"
	beacon = "who tends the beacon"
)

// withKeeper starts a server with many memories of ada, one of them the keeper.
func withKeeper(t *testing.T, memories int, settings ...string) *server {
	t.Helper()
	models := llmtest.New(t)
	meaning := make([]float32, llmtest.Dim)
	meaning[7] = 1
	models.Embedding(keeper, meaning)
	models.Embedding(beacon, meaning)
	s := start(
		t,
		slices.Concat(settings, withModels(models), impatient, unwaiting,
			[]string{"HIPPOCAMPUS_PROJECTION_GRACE=1s", "HIPPOCAMPUS_RECALL_OWN_WINDOW=5s"})...)
	batch := []object{{"user_id": "ada", "content": keeper, "importance": 0.9}}
	for i := range memories {
		batch = append(batch,
			object{"user_id": "ada", "content": fmt.Sprintf("page %d of the diary speaks of item%dx", i, i), "importance": 0.5})
	}
	for part := range slices.Chunk(batch, 1000) {
		s.call("POST", "/v1/memories/batch", object{"memories": part}, 200)
	}
	s.storesEqual(scripted, "ada")
	s.whole()
	return s
}

// whole waits until recall is not degraded.
func (s *server) whole() {
	s.t.Helper()
	eventually(s.t, "recall being whole", func() string {
		if r := s.call("POST", "/v1/recall", asking, 200); len(r.body["degraded"].([]any)) > 0 {
			return r.raw
		}
		return ""
	})
}

var asking = object{"user_id": "ada", "query": beacon, "limit": 3, "touch": false, "route": false}

// drift returns the number of memories on which a verification found the stores to differ.
func drift(report object) float64 {
	return count(report, "missing") + count(report, "orphaned") + count(report, "different")
}

// watch counts the answers of a client that recalls the keeper repeatedly.
type watch struct {
	stop func() // stops the client and waits for it

	mu       sync.Mutex
	answers  int
	degraded int // answers that named the vector store
	slowest  time.Duration
}

// betweenRecalls is the pause of a client that recalls repeatedly, so that a slow machine has no more to do.
const betweenRecalls = 100 * time.Millisecond

// watchKeeper recalls the keeper until it is stopped or the test ends. The keeper
// must be the first memory of every answer.
func (s *server) watchKeeper() *watch {
	w := &watch{}
	ended, done := make(chan struct{}), make(chan struct{})
	w.stop = sync.OnceFunc(func() { close(ended); <-done })
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
				return
			case <-time.After(betweenRecalls):
			}
			began := time.Now()
			r, err := s.try("POST", "/v1/recall", asking)
			if found := contents(r.list("memories")); err != nil || r.status != 200 || len(found) == 0 || found[0] != keeper {
				s.t.Errorf("the keeper was not recalled: %v %s", err, r.raw)
			}
			w.note(r, time.Since(began))
		}
	}()
	s.t.Cleanup(w.stop)
	return w
}

func (w *watch) note(r reply, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers++
	w.slowest = max(w.slowest, took)
	if parts, _ := r.body["degraded"].([]any); slices.Contains(parts, any("vector_store")) {
		w.degraded++
	}
}

func (w *watch) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answers
}

// soon waits for n more answers.
func (w *watch) soon(t *testing.T, more int) {
	t.Helper()
	before := w.count()
	eventually(t, "more recalls being answered", func() string {
		if n := w.count(); n < before+more {
			return fmt.Sprint(n)
		}
		return ""
	})
}

// The collection and its alias are dropped while the server runs. Every answer of
// recall still finds by embedding what it found before; the server fills a new
// collection by itself or on request, with --long twice.
func TestRecall_SurvivesDroppedCollection(t *testing.T) {
	t.Parallel()
	drops := 1
	if long {
		drops = 2
	}
	for _, test := range []struct {
		name string
		act  func(s *server) // after the drop
	}{
		{"repaired by itself", func(*server) {}},
		{"while others write", func(s *server) { // whose pushes must not make a collection that seems complete
			for i := range 20 {
				s.call("POST", "/v1/memories",
					object{"user_id": "ada", "content": fmt.Sprintf("written without a collection, number %d", i)}, 201)
			}
		}},
		{"rebuilt on demand", func(s *server) { s.job("/v1/admin/rebuild") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := withKeeper(t, 1100, large(t, milvustest.Addr(t))...)
			w := s.watchKeeper()
			w.soon(t, 10)
			for range drops {
				milvustest.Drop(t, s.setting("MILVUS_MEMORY_COLLECTION"))
				test.act(s)
				// The server is asked, since a client of the test itself would create the collection.
				eventually(t, "the stores being equal", func() string {
					r := s.job("/v1/admin/verify")
					if drift(r) == 0 && r["checked"].(float64) > 1100 && r["in_flight"] == 0.0 {
						return ""
					}
					return fmt.Sprint(r)
				})
				s.storesEqual(scripted, "ada")
				s.whole()
			}
			w.stop()
			eventually(t, "all parts being ready", func() string { // a busy Milvus may miss a check
				if r := s.call("GET", "/readyz", nil, 200); r.body["status"] != "ready" {
					return r.raw
				}
				return ""
			})
			if w.degraded == 0 || w.degraded == w.answers {
				t.Errorf("%d of %d recalls named the vector store as degraded", w.degraded, w.answers)
			}
			t.Logf("%d recalls, %d of them from the database alone, the slowest in %s", w.answers, w.degraded, w.slowest)
		})
	}
}

// outageFor returns how long Milvus is unreachable.
func outageFor() time.Duration {
	if long {
		return time.Minute
	}
	return 15 * time.Second
}

// Milvus is unreachable: connections are refused, or stay silent.
// Recall continues and names the vector store as degraded; writes, edits and deletes
// are accepted, and reach Milvus afterwards.
func TestRecall_SurvivesMilvusOutage(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct {
		name       string
		begin, end func(t *testing.T, proxy *toxiproxy.Proxy)
	}{
		{"refused", cut, reconnect},
		{"silent", func(t *testing.T, proxy *toxiproxy.Proxy) {
			for _, stream := range []string{"upstream", "downstream"} {
				toxic := fmt.Sprintf(`{"name": %[1]q, "type": "timeout", "stream": %[1]q, "attributes": {"timeout": 0}}`, stream)
				if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
					t.Fatal(err)
				}
			}
		}, func(t *testing.T, proxy *toxiproxy.Proxy) {
			cut(t, proxy)
			proxy.Toxics.ResetToxics(t.Context())
			reconnect(t, proxy)
		}},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			proxy := newProxy(t, milvustest.Addr(t))
			s := withKeeper(t, 200, large(t, proxy.Listen)...)
			known := s.call("POST", "/v1/recall", asking, 200).list("memories")[0]["id"].(string)
			pages := slices.DeleteFunc(s.active("ada"), func(id string) bool { return id == known })
			w := s.watchKeeper()
			w.soon(t, 10)

			answered := w.count()
			fault.begin(t, proxy)
			writes, began := 0, time.Now()
			for ; time.Since(began) < outageFor(); writes++ {
				s.call("POST", "/v1/memories",
					object{"user_id": "ada", "content": fmt.Sprintf("written during the outage, number %d", writes)}, 201)
				page := "/v1/memories/" + pages[writes%len(pages)]
				if writes%2 == 0 {
					s.call("PATCH", page, object{"content": fmt.Sprintf("changed during the outage, number %d", writes)}, 200)
				} else {
					s.call("DELETE", page, nil, 200)
				}
				time.Sleep(betweenRecalls)
			}
			w.stop()
			if during := w.answers - answered; w.degraded < during/2 || during == 0 || w.slowest > 30*time.Second {
				t.Errorf("of %d recalls %d were degraded, and the slowest took %s", during, w.degraded, w.slowest)
			}
			if r := s.call("GET", "/readyz", nil, 200); r.body["status"] == "ready" {
				t.Errorf("ready during the Milvus outage: %s", r.raw)
			}
			t.Logf("%d changes and %d recalls, the slowest in %s", 2*writes, w.answers, w.slowest)

			fault.end(t, proxy)
			s.storesEqual(scripted, "ada")
			s.whole()
		})
	}
}
