package e2e

import (
	"regexp"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// Calls of an embedder and of a reranker are spans below the stages that make them, with their models and providers.
// Lines of the log about a turn name its trace.
func TestTraces_ShowEmbedderAndReranker(t *testing.T) {
	t.Parallel()
	received := newCollector(t)
	model := llmtest.New(t)
	model.SetDim(96)
	model.OnChat(llmtest.Rules)
	s := start(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+received.http.URL, "OTEL_BSP_SCHEDULE_DELAY=100",
		"HIPPOCAMPUS_LOG_FORMAT=json", "HIPPOCAMPUS_EMBEDDING_API=ollama", "QWEN_API_BASE="+model.OllamaURL(),
		"MEMORY_EMBEDDING_MODEL=nomic-embed-text", "HIPPOCAMPUS_RERANK_BASE_URL="+model.URL(),
		"HIPPOCAMPUS_RERANK_MODEL=ranker", "DEEPSEEK_API_KEY=key", "DEEPSEEK_API_BASE="+model.URL())
	s.asked("/v1/turns", `{"user_id":"zuleika","wait":true,"messages":[
		{"role":"user","content":"I moved to Bergen in May. I keep a quokka."},
		{"role":"assistant","content":"A quokka in Bergen!"}]}`, turnTrace)
	for _, content := range []string{"A quokka eats leaves", "Bergen's zoo has a quokka", "Quokkas are kept in Perth"} {
		s.call("POST", "/v1/memories", object{"user_id": "zuleika", "content": content}, 201)
	}
	s.asked("/v1/recall", `{"user_id":"zuleika","query":"Which quokka is kept in Bergen?"}`, recallTrace)
	model.SetDown(true)
	s.asked("/v1/turns", `{"user_id":"zuleika","messages":[{"role":"user","content":"My quokka is called Ole."}]}`,
		proxyTrace)
	line := regexp.MustCompile(`"msg":"turn is tried again later".*"trace_id":"(\w{32})","span_id":"\w{16}"`)
	var logged []string
	eventually(t, "the turn being tried again later", func() string {
		if logged = line.FindStringSubmatch(s.printed()); logged == nil {
			return s.printed()
		}
		return ""
	})
	s.stop()

	turns := received.named("", "turn")
	if len(turns) < 2 {
		t.Fatalf("the turns have no traces:\n%s", received.tree())
	}
	recall := received.wantChild(received.one(recallTrace, "POST /v1/recall"), "recall")
	embedding := map[string]any{
		"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "nomic-embed-text",
		"gen_ai.provider.name": "ollama", "server.address": "127.0.0.1",
	}
	const embeddings = "embeddings nomic-embed-text"
	wantAttributes(t, received.wantChild(received.wantChild(turns[0], "ingest.embed"), embeddings), embedding)
	wantAttributes(t, received.wantChild(received.wantChild(recall, "recall.embed"), embeddings), embedding)
	wantAttributes(t, received.wantChild(received.wantChild(recall, "recall.rerank"), "rerank ranker"), map[string]any{
		"gen_ai.operation.name": "rerank", "gen_ai.request.model": "ranker", "gen_ai.provider.name": "cohere",
	})
	if len(received.named(logged[1], "turn")) != 1 {
		t.Errorf("the log names the trace %s, which has no turn:\n%s", logged[1], received.tree())
	}
	received.wantNo("quokka", "zuleika", "bergen", adminKey)
}
