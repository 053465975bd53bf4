package llm_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestEmbedder_BatchesAndOrdersTexts(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.SetDim(64)
	options := llm.EmbedderOptions{Model: "text-embedding-v4", QueryPrefix: "query: "}
	e, err := dial(t, server.URL(), nil).Embedder(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if e.Dim() != 64 || e.Model() != "text-embedding-v4" || server.Embeddings() != 1 {
		t.Errorf("%d numbers of %s after %d calls", e.Dim(), e.Model(), server.Embeddings())
	}
	var texts []string
	for i := range 25 {
		texts = append(texts, fmt.Sprintf("text number %d", i))
	}
	server.Embedding("query: "+texts[3], append(make([]float32, 63), 5))
	documents, err := e.Embed(t.Context(), llm.ForDocument, texts)
	if err != nil {
		t.Fatal(err)
	}
	if server.Embeddings() != 4 {
		t.Errorf("%d calls for 25 texts in batches of 10", server.Embeddings()-1)
	}
	same, err := llm.Hashed(64).Embed(t.Context(), llm.ForDocument, texts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(same, documents, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("order or scale is wrong: %s", diff)
	}
	queries, err := e.Embed(t.Context(), llm.ForQuery, texts[3:4])
	if err != nil || queries[0][63] != 1 {
		t.Errorf("the query prefix is missing: %v %v", queries, err)
	}
	vectors, err := e.Embed(t.Context(), llm.ForQuery, nil)
	if err != nil || len(vectors) != 0 || server.Embeddings() != 5 {
		t.Errorf("no texts gave %v %v", vectors, err)
	}
}

func TestEmbedder_RefusesBadVectors(t *testing.T) {
	t.Parallel()
	item := func(index int, vector string) string {
		return fmt.Sprintf(`{"index":%d,"embedding":%s}`, index, vector)
	}
	for name, test := range map[string]struct{ data, text string }{
		"too few": {item(0, "[1,0]"), "1 vectors for 2 texts"},
		"too many": {
			item(0, "[1,0]") + "," + item(1, "[1,0]") + "," + item(2, "[1,0]"), "3 vectors for 2 texts",
		},
		"same index":       {item(1, "[1,0]") + "," + item(1, "[1,0]"), "index 1"},
		"index too high":   {item(0, "[1,0]") + "," + item(2, "[1,0]"), "index 2"},
		"negative index":   {item(0, "[1,0]") + "," + item(-1, "[1,0]"), "index -1"},
		"dimension":        {item(0, "[1,0]") + "," + item(1, "[1,0,0]"), "3 numbers instead of 2"},
		"zero":             {item(0, "[1,0]") + "," + item(1, "[0,0]"), "length zero"},
		"empty":            {item(0, "[1,0]") + "," + item(1, "[]"), "0 numbers"},
		"too large number": {item(0, "[1,0]") + "," + item(1, "[1e300,0]"), "form of the API"},
		"NaN":              {item(0, "[1,0]") + "," + item(1, "[NaN,0]"), "form of the API"},
		"null":             {item(0, "[1,0]") + "," + item(1, "null"), "0 numbers"},
		"words":            {item(0, "[1,0]") + "," + item(1, `["a","b"]`), "form of the API"},
	} {
		server := llmtest.New(t)
		server.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return llmtest.Raw(`{"data":[` + test.data + `]}`) })
		e, err := dial(t, server.URL(), nil).Embedder(t.Context(), llm.EmbedderOptions{Model: "m", Dim: 2})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Embed(t.Context(), llm.ForDocument, []string{"a", "b"})
		if !memory.IsKind(err, memory.KindBadAnswer) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEmbedder_ProbesEndpoint(t *testing.T) {
	t.Parallel()
	_, err := dial(t, "http://127.0.0.1:1/v1", nil).Embedder(t.Context(), llm.EmbedderOptions{Model: "bge-m3"})
	if !memory.IsKind(err, memory.KindUnavailable) {
		t.Fatal(err)
	}
	t.Log(err)
	for _, part := range []string{"bge-m3", "http://127.0.0.1:1/v1", "refused", "check that it runs"} {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q does not contain %q in one line", err, part)
		}
	}
}

func TestHashed_ReflectsSimilarity(t *testing.T) {
	t.Parallel()
	e := llm.Hashed(llm.HashedDim)
	texts := []string{
		"I like green tea", "She likes drinking green tea", "The train to Berlin leaves at nine",
		"我喜欢喝绿茶", "她也喜欢喝绿茶", "去柏林的火车九点开",
		"Tom likes Ann", "Ann likes Tom", "I like tea", "I don't like tea",
		"", "!?", "😀", "tea tea tea tea", "tea",
	}
	v, err := e.Embed(t.Context(), llm.ForQuery, texts)
	if err != nil {
		t.Fatal(err)
	}
	again, err := e.Embed(t.Context(), llm.ForDocument, texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v {
		if length := math.Sqrt(dot(v[i], v[i])); math.Abs(length-1) > 1e-5 || len(v[i]) != e.Dim() {
			t.Errorf("%q has %d numbers, length %v", texts[i], len(v[i]), length)
		}
		if !slices.Equal(v[i], again[i]) {
			t.Errorf("%q is embedded in two ways", texts[i])
		}
	}
	near := func(a, b int) float64 { return dot(v[a], v[b]) }
	if near(0, 1) < 0.5 || near(0, 2) > 0.2 || near(3, 4) < 0.5 || near(3, 5) > 0.3 {
		t.Errorf("similar %.2f %.2f, different %.2f %.2f", near(0, 1), near(3, 4), near(0, 2), near(3, 5))
	}
	if near(6, 7) > 0.95 || near(8, 9) > 0.95 {
		t.Errorf("order %.2f and negation %.2f must count", near(6, 7), near(8, 9))
	}
	if near(11, 12) > 0.99 {
		t.Error("texts without lexemes have equal vectors")
	}
}

func TestEmbedder_UsesOllama(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.SetDim(64)
	ollama := llm.EmbedderOptions{Model: "nomic-embed-text", BatchSize: 2, Ollama: true}
	e, err := dial(t, server.OllamaURL()+"/", nil).Embedder(t.Context(), ollama)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"one", "two", "three"}
	got, err := e.Embed(t.Context(), llm.ForDocument, texts)
	if err != nil || e.Dim() != 64 || server.Embeddings() != 3 {
		t.Fatalf("%v after %d calls, %d numbers", err, server.Embeddings(), e.Dim())
	}
	want, err := llm.Hashed(64).Embed(t.Context(), llm.ForDocument, texts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Error(diff)
	}
	for name, test := range map[string]struct {
		reply llmtest.Reply
		text  string
	}{
		"too few":       {llmtest.Raw(`{"embeddings":[]}`), "0 vectors for 1 texts"},
		"dimension":     {llmtest.Raw(`{"embeddings":[[1,0]]}`), "2 numbers instead of 64"},
		"unknown model": {llmtest.Raw(`{"error":"model not found, try pulling it first"}`).As(404), "try pulling it first"},
	} {
		server.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return test.reply })
		if _, err := e.Embed(t.Context(), llm.ForQuery, texts[:1]); err == nil || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
