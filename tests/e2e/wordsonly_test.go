package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// A text that the embedding model refuses whatever its length is found by its words, through every door, and is
// embedded once the model accepts it.
func TestWordsOnly_IsFoundByItsWordsAndEmbeddedLater(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		models.SetDim(modelA.Dim)
		models.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply {
			if slices.ContainsFunc(r.Texts, func(s string) bool { return strings.Contains(s, "🦉") }) {
				return llmtest.Status(http.StatusBadRequest)
			}
			return models.Embed(r)
		})
		s := start(t, append(size.settings(t),
			"HIPPOCAMPUS_EMBEDDING_BASE_URL="+models.URL(), "HIPPOCAMPUS_EMBEDDING_API_KEY=k",
			"HIPPOCAMPUS_EMBEDDING_MODEL="+modelA.Model)...)
		wordsOnly := func() (list []string) {
			for _, m := range s.call("GET", "/v1/memories?user_id=ada&limit=100", nil, 200).list("memories") {
				if m["words_only"] == true {
					list = append(list, m["content"].(string))
				}
			}
			slices.Sort(list)
			return slices.Compact(list) // a message and its fact have the same content
		}
		talk := s.call("POST", "/v1/turns", turn("ada", "I saw a tawny 🦉 in Sintra."), 200)
		if talk.body["left_out"] != nil {
			t.Errorf("the turn is %s", talk.raw)
		}
		batch := s.call("POST", "/v1/memories/batch", object{"memories": []object{
			{"user_id": "ada", "content": "Plays chess."}, {"user_id": "ada", "content": "Feeds a barn 🦉."},
			{"user_id": "ada", "content": "🦉🦉"},
		}}, 200)
		for i, want := range []any{"kept", "kept", nil} {
			if got := batch.list("results")[i]["verdict"]; got != want {
				t.Errorf("item %d is %v, want %v: %s", i, got, want, batch.raw)
			}
		}
		refused := s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "🦉"}, 400)
		if !strings.Contains(refused.raw, "256 bytes") {
			t.Errorf("refused with %s", refused.raw)
		}
		changed := s.call("PATCH", "/v1/memories/"+batch.list("results")[0]["id"].(string),
			object{"content": "Plays chess with an 🦉."}, 200)
		if changed.body["words_only"] != true {
			t.Errorf("the changed memory is %s", changed.raw)
		}
		want := []string{"Feeds a barn 🦉.", "I saw a tawny 🦉 in Sintra.", "Plays chess with an 🦉."}
		if got := wordsOnly(); !slices.Equal(got, want) {
			t.Errorf("without an embedding are %q, want %q", got, want)
		}
		tool, err := s.callTool("list_memories", "?user_id=ada", object{})
		if err != nil || strings.Count(tool.raw, "found by its words alone") < len(want) {
			t.Errorf("the tool of MCP answers %v %s", err, tool.raw)
		}
		list := s.call("GET", "/mem0/memories?user_id=ada", nil, 200)
		if strings.Count(list.raw, `"words_only":true`) < len(want) {
			t.Errorf("mem0's list is %s", list.raw)
		}
		for query, content := range map[string]string{"tawny": want[1], "barn": want[0], "chess": want[2]} {
			found := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": query}, 200)
			list := found.list("memories")
			if len(list) == 0 || list[0]["content"] != content || len(found.list("degraded")) > 0 {
				t.Errorf("%s: %s", query, found.raw)
			}
		}
		eventually(t, "the vector of the former text being gone", func() string {
			if all := s.records(modelA); len(all) > 0 {
				return all[0].Content
			}
			return ""
		})
		models.OnEmbed(nil)
		s.kill()
		s.run()
		eventually(t, "the embeddings", func() string { return strings.Join(wordsOnly(), ", ") })
		s.storesEqual(modelA, "ada")
	})
}

// While the embedding model is unavailable, what is said is found by its words in recalls, lists and contexts, also
// after a restart. Once it is back, each message has one memory with its embedding, and the facts are extracted.
func TestWordsOnly_HoldsMessagesWhileTheEmbedderIsUnavailable(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		models.SetDim(modelA.Dim)
		models.SetDown(true)
		s := start(t, append(size.settings(t),
			"HIPPOCAMPUS_EMBEDDING_BASE_URL="+models.URL(), "HIPPOCAMPUS_EMBEDDING_API_KEY=k",
			"HIPPOCAMPUS_EMBEDDING_MODEL="+modelA.Model, fmt.Sprintf("HIPPOCAMPUS_EMBEDDING_DIMENSION=%d", modelA.Dim),
			"HIPPOCAMPUS_API_WAIT_TIMEOUT=1ms")...)
		const said = "I keep eleven alpacas in Sintra."
		id := s.call("POST", "/v1/turns", turn("ada", said), 202).body["id"].(string)
		messages := func() (kept, bare int) {
			for _, m := range s.call("GET", "/v1/memories?user_id=ada&limit=100", nil, 200).list("memories") {
				if m["type"] != "message" {
					continue
				}
				kept++
				if m["words_only"] == true {
					bare++
				}
			}
			return kept, bare
		}
		found := func() {
			t.Helper()
			eventually(t, "the message being kept", func() string {
				if kept, bare := messages(); kept != 1 || bare != 1 {
					return fmt.Sprintf("%d messages, %d without an embedding", kept, bare)
				}
				return ""
			})
			r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "alpacas"}, 200)
			if list := r.list("memories"); len(list) != 1 || list[0]["content"] != said || list[0]["words_only"] != true {
				t.Errorf("recall: %s", r.raw)
			}
			c := s.call("POST", "/v1/context", object{"user_id": "ada", "query": "alpacas"}, 200)
			if !strings.Contains(c.raw, said) {
				t.Errorf("context: %s", c.raw)
			}
			if r := s.call("GET", "/v1/turns/"+id, nil, 200); r.body["status"] != "accepted" {
				t.Errorf("the turn is %s", r.raw)
			}
		}
		found()
		s.kill()
		s.run()
		found()
		models.SetDown(false)
		eventually(t, "the embedding and the fact", func() string {
			if _, bare := messages(); bare > 0 {
				return "the message has no embedding"
			}
			if r := s.call("GET", "/v1/turns/"+id, nil, 200); r.body["status"] != "processed" {
				return r.raw
			}
			return ""
		})
		if kept, _ := messages(); kept != 1 {
			t.Errorf("%d messages", kept)
		}
		s.storesEqual(modelA, "ada")
	})
}
