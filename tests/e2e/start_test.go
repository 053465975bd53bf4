package e2e

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore/milvus/milvustest"
)

// part returns the state of a part of the server, and since when it is in it.
func (s *server) part(name string) (status string, since time.Time) {
	s.t.Helper()
	r := s.call("GET", "/readyz", nil, 200)
	part, _ := r.body[name].(map[string]any)
	status, _ = part["status"].(string)
	text, _ := part["since"].(string)
	since, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || now().Sub(since) < -time.Minute || now().Sub(since) > time.Hour {
		s.t.Errorf("%s is in its state since %q: %v", name, text, err)
	}
	return status, since
}

// ready waits until every part works.
func (s *server) ready() {
	s.t.Helper()
	eventually(s.t, "every part being ready", func() string {
		if r := s.call("GET", "/readyz", nil, 200); r.body["status"] != "ready" {
			return r.raw
		}
		return ""
	})
}

// degraded waits until exactly these parts are in a state in /readyz, and checks that they are so in the
// banner of the latest start, which begins at offset from in the output.
func (s *server) degraded(from int, status string, parts ...string) {
	s.t.Helper()
	eventually(s.t, "these parts alone being in the state", func() string { // a busy Milvus may miss a check
		r := s.call("GET", "/readyz", nil, 200)
		wrong := r.body["status"] != "degraded"
		for _, name := range []string{"database", "vector_store", "embedder", "scorer", "router"} {
			want := "ready"
			if slices.Contains(parts, name) {
				want = status
			}
			part, _ := r.body[name].(map[string]any)
			wrong = wrong || part["status"] != want
		}
		if wrong {
			return r.raw
		}
		return ""
	})
	eventually(s.t, "the whole banner", func() string {
		if banner := s.printed()[from:]; !strings.Contains(banner, "Recall:") {
			return banner
		}
		return ""
	})
	banner := s.printed()[from:]
	for _, name := range parts {
		if !strings.Contains(banner, name+" is "+status) {
			s.t.Errorf("the banner does not say that %s is %s:\n%s", name, status, banner)
		}
	}
}

// findsKeeper waits until recall finds the keeper by its vector alone, with no part missing.
func (s *server) findsKeeper() {
	s.t.Helper()
	eventually(s.t, "recall using vectors", func() string {
		r := s.call("POST", "/v1/recall", asking, 200)
		found := r.list("memories")
		if len(r.body["degraded"].([]any)) > 0 || len(found) == 0 || found[0]["content"] != keeper ||
			!slices.Contains(found[0]["sources"].([]any), any("vector")) {
			return r.raw
		}
		return ""
	})
}

// keeperModels is an endpoint for which the keeper and the question about it mean the same.
func keeperModels(t *testing.T) *llmtest.Server {
	models := llmtest.New(t)
	meaning := make([]float32, llmtest.Dim)
	meaning[7] = 1
	models.Embedding(keeper, meaning)
	models.Embedding(beacon, meaning)
	return models
}

// withEmbedder are the settings of an embedding model at an endpoint; rules score.
func withEmbedder(endpoint string) []string {
	return []string{"QWEN_API_KEY=embedding-key", "QWEN_API_BASE=" + endpoint, "MEMORY_EMBEDDING_MODEL=scripted"}
}

// silence makes a proxy swallow everything that is sent through it.
func silence(t *testing.T, proxy *toxiproxy.Proxy) {
	t.Helper()
	toxic := `{"name": "silence", "type": "timeout", "stream": "upstream", "attributes": {"timeout": 0}}`
	if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		t.Fatal(err)
	}
}

// The server starts while Milvus refuses connections or does not answer, at the
// first start and later: writes and recall work, and searches use vectors as soon as
// Milvus answers.
func TestStart_WithoutMilvus(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*testing.T, *toxiproxy.Proxy){"refused": cut, "silent": silence} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := newProxy(t, milvustest.Addr(t))
			fault(t, proxy)
			settings := slices.Concat(large(t, proxy.Listen), withEmbedder(keeperModels(t).URL()), unwaiting, []string{
				"HIPPOCAMPUS_RECALL_COMPARE_LIMIT=0", "HIPPOCAMPUS_RECALL_OWN_WINDOW=1s",
			})
			s := start(t, settings...)
			s.degraded(0, "unavailable", "vector_store")
			if name == "silent" && !strings.Contains(s.printed(), "the start waits for the vector store") {
				t.Errorf("the log does not say what the start waits for:\n%s", s.printed())
			}
			s.call("POST", "/v1/memories", object{"user_id": "ada", "content": keeper}, 201)
			works := func(text string) {
				t.Helper()
				if r := s.call("POST", "/v1/turns", turn("ada", text), 200); r.list("candidates")[0]["verdict"] != "kept" {
					t.Errorf("a turn without Milvus: %s", r.raw)
				}
				r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": text, "limit": 1}, 200)
				if found := contents(r.list("memories")); len(found) == 0 || found[0] != text ||
					!slices.Contains(r.body["degraded"].([]any), any("vector_store")) {
					t.Errorf("a recall without Milvus: %s", r.raw)
				}
			}
			works("I work as a marine biologist in Lisbon.")
			_, since := s.part("vector_store")

			proxy.Toxics.ResetToxics(t.Context())
			cut(t, proxy)
			reconnect(t, proxy)
			s.ready()
			s.findsKeeper()
			s.storesEqual(scripted, "ada")
			if _, again := s.part("vector_store"); !again.After(since) {
				t.Errorf("unavailable since %s and ready since %s", since, again)
			}

			fault(t, proxy)
			s.kill()
			before := len(s.printed())
			s.run()
			s.degraded(before, "unavailable", "vector_store")
			works("I love skiing in the Alps.")
			proxy.Toxics.ResetToxics(t.Context())
			cut(t, proxy)
			reconnect(t, proxy)
			s.ready()
			s.findsKeeper()
			s.storesEqual(scripted, "ada")
		})
	}
}

// The server starts without the endpoint of its embedder if the database knows the
// dimension: turns wait for the endpoint, and recall finds memories by their words.
func TestStart_WithoutEmbedder(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := keeperModels(t)
		address, err := url.Parse(models.URL())
		if err != nil {
			t.Fatal(err)
		}
		proxy := newProxy(t, address.Host)
		s := start(t, slices.Concat(size.settings(t), impatient, withEmbedder("http://"+proxy.Listen+"/v1"),
			[]string{"HIPPOCAMPUS_RECALL_OWN_WINDOW=1s"})...)
		s.ready()
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": keeper}, 201)
		s.findsKeeper()

		s.kill()
		cut(t, proxy)
		before := len(s.printed())
		s.run()
		s.degraded(before, "unavailable", "embedder")
		message := []object{{"role": "user", "content": "I work as a marine biologist in Lisbon."}}
		id := s.call("POST", "/v1/turns", object{"user_id": "ada", "messages": message}, 202).body["id"].(string)
		r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "the lighthouse keeper", "limit": 1}, 200)
		if found := contents(r.list("memories")); len(found) == 0 || found[0] != keeper ||
			len(r.body["degraded"].([]any)) == 0 {
			t.Errorf("a recall without the embedder: %s", r.raw)
		}
		reconnect(t, proxy)
		s.ready()
		s.findsKeeper()
		eventually(t, "the turn being processed", func() string {
			if r := s.call("GET", "/v1/turns/"+id, nil, 200); r.body["status"] != "processed" {
				return r.raw
			}
			return ""
		})
	})
}

// The first start works without the endpoint of its embedder, whose dimension is unknown: the built-in embedder serves.
// When the endpoint answers, its model embeds what was written, and serves.
func TestStart_FirstWithoutEmbedder(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		address, err := url.Parse(keeperModels(t).URL())
		if err != nil {
			t.Fatal(err)
		}
		proxy := newProxy(t, address.Host)
		cut(t, proxy)
		s := start(t, slices.Concat(size.settings(t), impatient, withEmbedder("http://"+proxy.Listen+"/v1"),
			[]string{"HIPPOCAMPUS_RECALL_OWN_WINDOW=1s"})...)
		s.degraded(0, "unavailable", "embedder")
		if !strings.Contains(s.printed(), "minilm-words-bge-zh-v1, until scripted answers") {
			t.Errorf("the banner does not say which embedder serves:\n%s", s.printed())
		}
		works := func() {
			t.Helper()
			const said = "I work as a marine biologist in Lisbon."
			s.call("POST", "/v1/turns", turn("ada", said), 200)
			r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "the lighthouse keeper", "limit": 1}, 200)
			if found := contents(r.list("memories")); len(found) == 0 || found[0] != keeper {
				t.Errorf("a recall without the embedder: %s", r.raw)
			}
		}
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": keeper}, 201)
		works()
		s.kill()
		before := len(s.printed())
		s.run()
		s.degraded(before, "unavailable", "embedder")
		works()
		reconnect(t, proxy)
		s.ready()
		eventually(t, "the configured model serving", func() string {
			r := s.call("GET", "/v1/stats", nil, 200)
			if state, _ := r.body["embedding"].(map[string]any); state["serving"] != "scripted" {
				return r.raw
			}
			return ""
		})
		s.findsKeeper()
		s.storesEqual(scripted, "ada")
	})
}

// A chat endpoint that refuses the key is named at the start, and turns wait until
// it accepts the key.
func TestStart_WithRefusedChatKey(t *testing.T) {
	t.Parallel()
	models := llmtest.New(t)
	models.SetKey("another-key")
	models.Facts("parrots", llmtest.Fact{Fact: "Ada keeps nine green parrots.", Importance: 0.9, Domain: memory.Lifestyle})
	s := start(t, slices.Concat(impatient, []string{"DEEPSEEK_API_KEY=chat-key", "DEEPSEEK_API_BASE=" + models.URL()})...)
	s.degraded(0, "unauthorized", "scorer", "router")
	for _, part := range []string{"401", "check the API key", "Turns are kept"} {
		if !strings.Contains(s.printed(), part) {
			t.Errorf("the banner does not contain %q:\n%s", part, s.printed())
		}
	}
	if strings.Contains(s.printed(), "chat-key") {
		t.Errorf("the output has the key:\n%s", s.printed())
	}
	message := []object{{"role": "user", "content": "I work as a marine biologist in Lisbon."}}
	id := s.call("POST", "/v1/turns", object{"user_id": "ada", "messages": message}, 202).body["id"].(string)
	s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "Which animals does Ada keep?"}, 200)

	models.SetKey("chat-key")
	s.ready()
	eventually(t, "the turn being processed", func() string {
		if r := s.call("GET", "/v1/turns/"+id, nil, 200); r.body["status"] != "processed" {
			return r.raw
		}
		return ""
	})
}
