package llm

import "testing"

func TestProviderOf_IsThatOfTheEndpointElseOfItsAPI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ host, api, want string }{
		{"api.openai.com", apiOpenAI, "openai"},
		{"api.deepseek.com", apiOpenAI, "deepseek"},
		{"memory.openai.azure.com", apiOpenAI, "azure.ai.openai"},
		{"generativelanguage.googleapis.com", apiOpenAI, "gcp.gen_ai"},
		{"notdeepseek.com", apiOpenAI, "openai"},
		{"dashscope.aliyuncs.com", apiOpenAI, "openai"},
		{"127.0.0.1", apiOllama, "ollama"},
		{"reranker", apiCohere, "cohere"},
		{"", apiOpenAI, "openai"},
	} {
		if got := providerOf(c.host, c.api); got != c.want {
			t.Errorf("%s with the API of %s: %s, want %s", c.host, c.api, got, c.want)
		}
	}
}
