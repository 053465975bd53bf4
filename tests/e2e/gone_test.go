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

// keeper is a memory that the question beacon finds by its meaning alone: they
// share no word, and nothing else is near.
const (
	keeper = "Ada met the lighthouse keeper"
	beacon = "who tends the beacon"
)

// withKeeper is a server with many memories of ada's, and the keeper among them.
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

// whole waits until recall needs nothing but what it should need.
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

// drift is how many memories a verification found the stores to disagree about.
func drift(report object) float64 {
	return count(report, "missing") + count(report, "orphaned") + count(report, "different")
}

// watch is what somebody saw who asked for the keeper over and over.
type watch struct {
	stop func() // ends the asking, and waits for it

	mu       sync.Mutex
	answers  int
	degraded int // answers that named the vector store
	slowest  time.Duration
}

// watchKeeper asks until it is stopped or the test ends. Every answer must
// hold the keeper, first.
func (s *server) watchKeeper() *watch {
	w, ended, done := &watch{}, make(chan struct{}), make(chan struct{})
	w.stop = sync.OnceFunc(func() { close(ended); <-done })
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
				return
			case <-time.After(20 * time.Millisecond):
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

// soon waits until as many more answers have come.
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

// The collection is dropped while the server runs, with its alias, as an
// operator might. Recall finds by meaning what it found before, in every
// answer; the server fills a new collection by itself, and when it is asked.
func TestRecall_SurvivesDroppedCollection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		settings  []string
		meanwhile func(s *server)
	}{
		{"mended by itself", nil, func(*server) {}},
		{"while others write", nil, func(s *server) { // a write makes the new collection at once
			for i := range 20 {
				s.call("POST", "/v1/memories", object{"user_id": "ada", "content": fmt.Sprintf("written meanwhile, number %d", i)}, 201)
			}
		}},
		{"rebuilt on demand", []string{"HIPPOCAMPUS_PROJECTION_INTERVAL=20s"}, func(s *server) { s.job("/v1/admin/rebuild") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := withKeeper(t, 1500, append(large(t, milvustest.Addr(t)), test.settings...)...)
			w := s.watchKeeper()
			w.soon(t, 10)
			for range 2 {
				milvustest.Drop(t, s.setting("MILVUS_MEMORY_COLLECTION"))
				test.meanwhile(s)
				// Asked of the server: a client of the test's own would make the collection itself.
				eventually(t, "the stores being equal", func() string {
					r := s.job("/v1/admin/verify")
					if drift(r) == 0 && r["checked"].(float64) > 1500 && r["in_flight"] == 0.0 {
						return ""
					}
					return fmt.Sprint(r)
				})
				s.storesEqual(scripted, "ada")
				s.whole()
			}
			w.stop()
			if r := s.call("GET", "/readyz", nil, 200); r.body["status"] != "ready" {
				t.Errorf("afterwards %s", r.raw)
			}
			if w.degraded == 0 || w.degraded == w.answers {
				t.Errorf("%d of %d recalls said that the vector store was away", w.degraded, w.answers)
			}
			t.Logf("%d recalls, %d of them from the database alone, the slowest in %s", w.answers, w.degraded, w.slowest)
		})
	}
}

// Milvus cannot be reached for a minute: connections are refused, or nothing
// comes back on them. Recall goes on and says so, writes, edits and deletes
// are accepted, and afterwards all of it arrives.
func TestRecall_SurvivesMilvusOutage(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct {
		name       string
		begin, end func(t *testing.T, proxy *toxiproxy.Proxy)
	}{
		{"refused", cut, mend},
		{"silent", func(t *testing.T, proxy *toxiproxy.Proxy) {
			for _, stream := range []string{"upstream", "downstream"} {
				if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(`{"name": "` + stream + `", "type": "timeout", "stream": "` + stream + `", "attributes": {"timeout": 0}}`)); err != nil {
					t.Fatal(err)
				}
			}
		}, func(t *testing.T, proxy *toxiproxy.Proxy) {
			cut(t, proxy)
			proxy.Toxics.ResetToxics(t.Context())
			mend(t, proxy)
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

			fault.begin(t, proxy)
			writes, began := 0, time.Now()
			for ; time.Since(began) < time.Minute; writes++ {
				s.call("POST", "/v1/memories",
					object{"user_id": "ada", "content": fmt.Sprintf("written in the dark, number %d", writes)}, 201)
				if page := "/v1/memories/" + pages[writes%len(pages)]; writes%2 == 0 {
					s.call("PATCH", page, object{"content": fmt.Sprintf("changed in the dark, number %d", writes)}, 200)
				} else {
					s.call("DELETE", page, nil, 200)
				}
			}
			w.stop()
			if w.degraded < w.answers/2 || w.slowest > 30*time.Second {
				t.Errorf("of %d recalls %d were degraded, and the slowest took %s", w.answers, w.degraded, w.slowest)
			}
			if r := s.call("GET", "/readyz", nil, 200); r.body["status"] == "ready" {
				t.Errorf("ready while Milvus is away: %s", r.raw)
			}
			t.Logf("%d changes and %d recalls, the slowest in %s", 2*writes, w.answers, w.slowest)

			fault.end(t, proxy)
			s.storesEqual(scripted, "ada")
			s.whole()
		})
	}
}
