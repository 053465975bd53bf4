package llm_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// meter records what it counts.
type meter struct {
	mu      sync.Mutex
	refused error
	used    []string
}

func (m *meter) Admit(context.Context, string) error { return m.refused }

func (m *meter) Count(appID string, kind memory.TokenKind, n int) {
	m.note(appID, string(kind), strings.Repeat("#", n))
}

func (m *meter) Estimate(appID string, kind memory.TokenKind, texts ...string) {
	m.note(appID, string(kind), strings.Join(texts, "|"))
}

func (m *meter) note(words ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used = append(m.used, strings.Join(words, " "))
}

func TestMeter_CountsTokensOfAnApp(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	m := &meter{}
	client := dial(t, server.URL(), func(o *llm.Options) { o.Meter = m })
	ask := func(ctx context.Context, reply llmtest.Reply) {
		server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return reply })
		_, _ = client.Chat("m").Answer(ctx, llm.Prompt{System: "s", User: "u"})
	}
	ctx := llm.ForApp(t.Context(), "app")
	counted := llmtest.TextWithUsage("a", map[string]any{"prompt_tokens": 3, "completion_tokens": 2})
	ask(t.Context(), counted) // for no app
	ask(ctx, counted)
	ask(ctx, llmtest.Text("a"))
	ask(ctx, llmtest.Status(400))
	e, err := client.Embedder(t.Context(), llm.EmbedderOptions{Model: "e", QueryPrefix: "q: ", Dim: llmtest.Dim})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(ctx, llm.ForQuery, []string{"x", "y"}); err != nil {
		t.Fatal(err)
	}
	want := []string{"app chat #####", "app chat s|u|a", "app embedding q: x|q: y"}
	if !slices.Equal(m.used, want) {
		t.Errorf("counted %q, want %q", m.used, want)
	}
}

// A refused call is not sent; neither the breaker nor the health of the endpoint gets to know of it.
func TestMeter_RefusesBeforeTheCall(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	m := &meter{}
	counts, health := llm.NewCounts(), llm.NewHealth()
	client := dial(t, server.URL(), func(o *llm.Options) {
		o.Meter, o.Observer, o.Health, o.BreakerFailures = m, counts, health, 1
	})
	server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("a") })
	chat, ctx := client.Chat("m"), llm.ForApp(t.Context(), "app")
	if _, err := chat.Answer(ctx, llm.Prompt{Name: "p"}); err != nil {
		t.Fatal(err)
	}
	m.refused = &memory.Error{
		Kind: memory.KindUnavailable, Limit: "quotas.chat_tokens", RetryAfter: time.Hour, Err: context.DeadlineExceeded,
	}
	for range 3 {
		if _, err := chat.Answer(ctx, llm.Prompt{Name: "p"}); memory.LimitOf(err) != "quotas.chat_tokens" {
			t.Errorf("%v", err)
		}
	}
	if n := counts.Failures()[llm.Failure{Prompt: "p", Cause: llm.CauseQuota}]; n != 3 {
		t.Errorf("%d calls failed for the quota", n)
	}
	if n := counts.ByPrompt()["p"]; n.Calls != 1 || n.Failed != 0 {
		t.Errorf("counts %+v", n)
	}
	if server.Chats() != 1 || health.Err() != nil {
		t.Errorf("%d calls were sent; the health is %v", server.Chats(), health.Err())
	}
	m.refused = nil
	if _, err := chat.Answer(ctx, llm.Prompt{Name: "p"}); err != nil {
		t.Errorf("after the refusals: %v", err)
	}
}
