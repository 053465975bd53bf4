package llm_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// refusing returns an embedder and its endpoint. The endpoint returns answer to requests with a text that it does not
// accept.
func refusing(t *testing.T, answer llmtest.Reply, accepts func(text string) bool) (llm.Embedder, *llmtest.Server) {
	t.Helper()
	server := llmtest.New(t)
	server.SetDim(64)
	server.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply {
		if slices.ContainsFunc(r.Texts, func(s string) bool { return !accepts(s) }) {
			return answer
		}
		return server.Embed(r)
	})
	e, err := dial(t, server.URL(), nil).Embedder(t.Context(), llm.EmbedderOptions{Model: "m", Dim: 64})
	if err != nil {
		t.Fatal(err)
	}
	return e, server
}

func shorterThan(limit int) func(string) bool {
	return func(s string) bool { return len(s) < limit }
}

// tooLong are the answers with which endpoints refuse texts for their length.
var tooLong = map[string]llmtest.Reply{
	"OpenAI": llmtest.Raw(`{"error":{"message":"This model's maximum context length is 8192 tokens, however you ` +
		`requested 9001 tokens."}}`).As(http.StatusBadRequest),
	"text-embeddings-inference": llmtest.Raw("{\"error\":\"Input validation error: `inputs` must have less than 512 " +
		"tokens. Given: 700\",\"error_type\":\"Validation\"}").As(http.StatusRequestEntityTooLarge),
	"DashScope": llmtest.Raw(`{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length ` +
		`should be [1, 8192]"}}`).As(http.StatusBadRequest),
	"Ollama": llmtest.Raw(`{"error":"the input length exceeds the context length"}`).As(http.StatusBadRequest),
	"vLLM": llmtest.Raw(`{"message":"This model's maximum context length is 512 tokens"}`).
		As(http.StatusBadRequest),
	"nginx": llmtest.Raw("<html>413 Request Entity Too Large</html>").As(http.StatusRequestEntityTooLarge),
}

// A text that is too long for the endpoint is found by words from its beginning to its end. The length that the
// endpoint accepts is remembered.
func TestEmbedder_EmbedsLongTextsInParts(t *testing.T) {
	t.Parallel()
	garden, train := strings.Repeat("The garden needs water. ", 60), strings.Repeat("The train to Berlin is late. ", 60)
	for name, answer := range tooLong {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, server := refusing(t, answer, shorterThan(1000))
			texts := []string{"I like tea", garden + train, "Tom likes Ann", "我喜欢喝绿茶"}
			got, err := e.Embed(t.Context(), llm.ForDocument, texts)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := e.Embed(t.Context(), llm.ForDocument, []string{
				"The garden needs water.", "The train to Berlin is late.", texts[0], texts[2], texts[3],
			})
			if err != nil {
				t.Fatal(err)
			}
			if g, b := dot(got[1], alone[0]), dot(got[1], alone[1]); g < 0.5 || b < 0.5 || dot(got[1], got[1]) < 0.999 {
				t.Errorf("the long text is similar to its beginning by %.2f and to its end by %.2f", g, b)
			}
			for i, k := range []int{0, 2, 3} {
				if dot(got[k], alone[2+i]) < 0.999 {
					t.Errorf("the vector of %q changes if a long text is in the same call", texts[k])
				}
			}
			before := server.Embeddings()
			if _, err := e.Embed(t.Context(), llm.ForDocument, texts); err != nil || server.Embeddings()-before != 1 {
				t.Errorf("the length was not remembered: %d requests, %v", server.Embeddings()-before, err)
			}
		})
	}
}

// A refusal for a reason other than the length says nothing about other texts. A text whose parts are refused too has
// no vector; the other texts have theirs.
func TestEmbedder_LeavesOutRefusedTexts(t *testing.T) {
	t.Parallel()
	e, server := refusing(t, llmtest.Raw(`{"error":{"message":"Input data may contain inappropriate content."}}`).As(400),
		func(s string) bool { return !strings.Contains(s, "forbidden") })
	forbidden := strings.Repeat("A forbidden word. ", 100)
	mixed := forbidden[:18] + strings.Repeat("The garden needs water. ", 60)
	texts := []string{"I like tea", forbidden, "Tom likes Ann", mixed, "tea"}
	got, err := e.Embed(t.Context(), llm.ForDocument, texts)
	var refused *llm.RefusedTexts
	if !errors.As(err, &refused) || refused.Count != 2 || !memory.IsKind(err, memory.KindUnavailable) {
		t.Fatalf("%v", err)
	}
	for i := range texts {
		if (got[i] == nil) != (i == 1 || i == 3) {
			t.Errorf("the vector of %.20q has %d numbers", texts[i], len(got[i]))
		}
	}
	before := server.Embeddings()
	long := strings.Repeat("The train to Berlin is late. ", 60)
	if _, err := e.Embed(t.Context(), llm.ForDocument, []string{long}); err != nil || server.Embeddings()-before != 1 {
		t.Errorf("%d requests for an accepted text, %v", server.Embeddings()-before, err)
	}
}

// If a text has a vector without a direction, as an emoji may have, the other texts have their vectors.
func TestEmbedder_LeavesOutTextsWithoutADirection(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.SetDim(64)
	server.Embedding("😀", make([]float32, 64))
	e, err := dial(t, server.URL(), nil).Embedder(t.Context(), llm.EmbedderOptions{Model: "m", Dim: 64})
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := e.Embed(t.Context(), llm.ForDocument, []string{"I like tea", "😀", "tea"})
	var refused *llm.RefusedTexts
	if !errors.As(err, &refused) || refused.Count != 1 || vectors[0] == nil || vectors[1] != nil || vectors[2] == nil {
		t.Errorf("%d vectors, %v", len(vectors), err)
	}
}

// An endpoint that refuses every text is asked twice: for the text, and for a harmless one.
func TestEmbedder_ReportsWhatRefusesEveryText(t *testing.T) {
	t.Parallel()
	e, server := refusing(t, llmtest.Status(http.StatusBadRequest), func(string) bool { return false })
	vectors, err := e.Embed(t.Context(), llm.ForDocument, []string{strings.Repeat("long ", 1000), "short"})
	var refused *llm.RefusedTexts
	if vectors != nil || err == nil || errors.As(err, &refused) || server.Embeddings() != 2 {
		t.Errorf("%d vectors after %d requests, %v", len(vectors), server.Embeddings(), err)
	}
}

// If the endpoint fails while a text is embedded in parts, the whole call fails.
func TestEmbedder_FailsIfTheEndpointFailsBetweenParts(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.SetDim(64)
	server.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply {
		switch {
		case r.Texts[0] == "hello":
			return server.Embed(r)
		case len(r.Texts) == 1:
			return llmtest.Status(http.StatusRequestEntityTooLarge)
		}
		return llmtest.Status(http.StatusUnauthorized)
	})
	e, err := dial(t, server.URL(), nil).Embedder(t.Context(), llm.EmbedderOptions{Model: "m", Dim: 64})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Embed(t.Context(), llm.ForDocument, []string{strings.Repeat("The garden needs water. ", 60)})
	if cause := llm.CauseOf(err); err == nil || cause != llm.CauseKey {
		t.Errorf("the cause is %q: %v", cause, err)
	}
}
