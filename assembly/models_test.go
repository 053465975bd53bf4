package assembly

import (
	"strings"
	"testing"

	"hippocampus/internal/text"
)

func TestFind_MatchesTheLongestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"gpt-4o": "gpt-4o", "gpt-4o-mini": "gpt-4o", "GPT-4o-2024-08-06": "gpt-4o", "gpt-4": "gpt-4", "gpt-4-0613": "gpt-4",
		"gpt-4-turbo-preview": "gpt-4-turbo", "gpt-4.1-nano": "gpt-4.1", "gpt-5-mini": "gpt-5", "o3-mini": "o3",
		"o1-mini-2024-09-12": "o1-mini",
		"openai/gpt-4o":      "gpt-4o", "ft:gpt-3.5-turbo:acme::id": "gpt-3.5-turbo", "deepseek-chat": "deepseek-chat",
		"deepseek-ai/DeepSeek-V3": "deepseek",
		"qwen-plus-latest":        "qwen-plus", "Qwen/Qwen3-8B": "qwen3", "qwen2.5:7b": "qwen",
		"claude-sonnet-4-5": "claude-sonnet-4", "claude-3-haiku": "claude",
		"gemini-2.5-flash": "gemini-2.5", "llama3.1:8b": "llama3.1", "meta-llama/Llama-3.3-70B-Instruct": "llama-3.3",
		"glm-4.6": "glm-4.6",
		"kimi-k2": "kimi", "moonshot-v1-32k": "moonshot-v1-32k", "grandma": "", "": "", "/": "", "gpt": "",
	} {
		if m, ok := Find(name); m.Name != want || ok != (want != "") || m.Window == 0 {
			t.Errorf("%q is %+v, want %q", name, m, want)
		}
	}
}

// Some small models share a prefix of their name with large ones.
func TestFind_KnowsSmallerWindows(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"gpt-3.5-turbo-instruct-0914": 4096, "gpt-35-turbo-instruct": 4096, "claude-instant-1.2": 100_000,
		"gemini-pro-vision": 16_384,
		"Qwen/Qwen3-0.6B":   32_768, "qwen3-1.7b": 32_768, "qwen3-4b": 32_768, "qwen3-8b": 131_072,
	} {
		if m, _ := Find(name); m.Window != want {
			t.Errorf("%s has a window of %d, want %d", name, m.Window, want)
		}
	}
}

func TestModels_AreConsistent(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, m := range append(known, unknown) {
		if seen[m.Name] || m.Name != strings.ToLower(m.Name) || strings.Contains(m.Name, "/") {
			t.Errorf("%q is there twice, or can never be found", m.Name)
		}
		seen[m.Name] = true
		if m.Window < 4096 || m.Window > 1<<21 || m.Response < 1024 || m.Response > m.Window {
			t.Errorf("%s has a window of %d and answers of %d", m.Name, m.Window, m.Response)
		}
		if m.Estimated() != (m.Scale > 1) || m.Scale > 2 || !m.Estimated() && !m.Encoding.Known() {
			t.Errorf("%s is counted by %q times %g", m.Name, m.Encoding, m.Scale)
		}
	}
}

func TestCounter_MeasuresTexts(t *testing.T) {
	t.Parallel()
	shared := NewCounts(1 << 20)
	const said = "hello world\nhello world\n" // 3 tokens a line
	for name, c := range map[string]struct {
		counter Counter
		s       string
		want    int
	}{
		"characters":         {Counter{}, "你好 x", 4},
		"tokens":             {Counter{Encoding: text.O200k}, said, 6},
		"kept":               {Counter{Encoding: text.O200k, counts: shared}, said + said, 12},
		"kept by encoding":   {Counter{Encoding: text.CL100k, counts: shared}, said, 6},
		"estimated":          {Counter{Encoding: text.O200k, Scale: 1.2}, said, 8},
		"a message":          {Counter{Encoding: text.O200k}, "", 0},
		"an old text as new": {Counter{Encoding: text.O200k, counts: shared}, said + said, 12},
	} {
		if got := c.counter.Size(c.s); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if c := (Counter{Encoding: text.O200k, Scale: 1.2}); c.message() != 5 || c.request() != 4 ||
		(Counter{}).message() != 0 {
		t.Errorf("messages cost %d, and %d in all", c.message(), c.request())
	}
}
