package llm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-very-secret"

// dial makes a client with small settings for a server.
func dial(t *testing.T, url string, change func(*llm.Options)) *llm.Client {
	t.Helper()
	o := llm.Options{
		BaseURL: url, APIKey: secret, Timeout: time.Minute, Backoff: time.Millisecond,
		MaxRetryWait: time.Second, BreakerFailures: 1000, BreakerDelay: 50 * time.Millisecond,
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
	}
	if change != nil {
		change(&o)
	}
	client := llm.NewClient(o)
	t.Cleanup(client.Close)
	return client
}

func TestAnswer_SendsPrompt(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	var asked llmtest.ChatRequest
	server.OnChat(func(r llmtest.ChatRequest) llmtest.Reply { asked = r; return llmtest.Text("你好") })
	chat := dial(t, server.URL()+"/", nil).Chat("deepseek-chat")
	answer, err := chat.Answer(t.Context(), llm.Prompt{System: "s", User: "u", MaxTokens: 7})
	if err != nil || answer != "你好" || chat.Model() != "deepseek-chat" {
		t.Fatalf("%q %v", answer, err)
	}
	if asked.Model != "deepseek-chat" || asked.System != "s\n" || asked.User != "u\n" || asked.MaxTokens != 7 ||
		asked.Format != "json_object" || asked.Key != secret ||
		!asked.HasTemperature || !strings.Contains(asked.Body, `"temperature":0,`) {
		t.Errorf("asked %+v", asked)
	}
}

func TestAnswer_ClassifiesFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply llmtest.Reply
		kind  memory.Kind
		calls int
		text  string
	}{
		"400": {llmtest.Status(400), memory.KindUnavailable, 1, "scripted failure"},
		"401": {llmtest.Status(401), memory.KindUnavailable, 1, "check the API key"},
		"402": {llmtest.Status(402), memory.KindUnavailable, 1, "check the account's balance"},
		"403": {llmtest.Status(403), memory.KindUnavailable, 1, "check the API key"},
		"404": {llmtest.Status(404), memory.KindUnavailable, 1, "check the base URL"},
		"422": {llmtest.Status(422), memory.KindUnavailable, 1, "422"},
		"429": {llmtest.Status(429), memory.KindUnavailable, 3, "try again later"},
		"500": {llmtest.Status(500), memory.KindUnavailable, 3, "500 Internal Server Error"},
		"503": {llmtest.Status(503), memory.KindUnavailable, 3, "503"},
		"redirect": {
			llmtest.Status(302).With("Location", "http://127.0.0.1:1/elsewhere"),
			memory.KindUnavailable, 1, "correct the base URL",
		},
		"hang":                 {llmtest.Hang(), memory.KindUnavailable, 3, "no answer within 300ms"},
		"cut":                  {llmtest.Cut(), memory.KindUnavailable, 3, "EOF"},
		"chopped":              {llmtest.Text(strings.Repeat("a", 5000)).Chopped(), memory.KindUnavailable, 3, "broke off"},
		"garbage":              {llmtest.Raw("<html>hello</html>"), memory.KindBadAnswer, 1, "check the base URL"},
		"empty body":           {llmtest.Raw(""), memory.KindBadAnswer, 1, "check the base URL"},
		"other JSON":           {llmtest.Raw(`{"ok":true}`), memory.KindBadAnswer, 1, "no choice"},
		"array":                {llmtest.Raw(`[]`), memory.KindBadAnswer, 1, "check the base URL"},
		"huge":                 {llmtest.Text(strings.Repeat("a", 5<<20)), memory.KindBadAnswer, 1, "4194304 bytes"},
		"huge error":           {llmtest.Raw(strings.Repeat("a\n", 3<<20)).As(400), memory.KindUnavailable, 1, "a a a"},
		"Retry-After too long": {llmtest.Status(429).With("Retry-After", "3600"), memory.KindUnavailable, 1, "429"},
		"Retry-After as a date": {
			llmtest.Status(503).With("Retry-After", "Thu, 01 Jan 2026 01:00:00 GMT"),
			memory.KindUnavailable, 1, "503",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.New(t)
			server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return test.reply })
			client := dial(t, server.URL(), func(o *llm.Options) {
				if name == "hang" {
					o.Timeout = 300 * time.Millisecond
				}
			})
			_, err := client.Chat("m").Answer(t.Context(), llm.Prompt{})
			if !memory.IsKind(err, test.kind) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%v", err)
			}
			isRequest := slices.Contains([]string{"400", "422", "huge error"}, name)
			if cause := llm.CauseOf(err); (cause == llm.CauseRequest) != isRequest {
				t.Errorf("the cause is %q: %v", cause, err)
			}
			if server.Chats() != test.calls {
				t.Errorf("%d calls, want %d", server.Chats(), test.calls)
			}
			if text := err.Error(); strings.Contains(text, secret) || strings.Contains(text, "\n") || len(text) > 600 {
				t.Errorf("unfit for a log line: %q", text)
			}
			var m *memory.Error
			if strings.HasPrefix(name, "Retry-After") && (!errors.As(err, &m) || m.RetryAfter != time.Hour) {
				t.Errorf("RetryAfter is %v", m.RetryAfter)
			}
		})
	}
}

func TestAnswer_ErrorsHideSecrets(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		return llmtest.Raw(`{"error":{"message":"wrong key ` + r.Key + `"}}`).As(401)
	})
	url := strings.Replace(server.URL(), "http://", "http://user:hidden@", 1)
	_, err := dial(t, url, nil).Chat("m").Answer(t.Context(), llm.Prompt{})
	if err == nil || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "hidden") ||
		!strings.Contains(err.Error(), "[key]") {
		t.Errorf("%v", err)
	}
	server.SetDown(true)
	_, err = dial(t, url, nil).Chat("m").Answer(t.Context(), llm.Prompt{})
	if err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("%v", err)
	}
}

func TestAnswer_HonoursRetryAfter(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	var first atomic.Int64
	server.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		if r.Call == 1 {
			first.Store(time.Now().UnixNano())
			return llmtest.Status(429).With("Retry-After", "0.4")
		}
		if waited := time.Duration(time.Now().UnixNano() - first.Load()); waited < 400*time.Millisecond {
			t.Errorf("asked again after %v", waited)
		}
		return llmtest.Text("{}")
	})
	_, err := dial(t, server.URL(), nil).Chat("m").Answer(t.Context(), llm.Prompt{})
	if err != nil || server.Chats() != 2 {
		t.Errorf("%v after %d calls", err, server.Chats())
	}
}

func TestAnswer_WithoutRetries(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.SetDown(true)
	_, err := dial(t, server.URL(), func(o *llm.Options) { o.Retries = -1 }).Chat("m").Answer(t.Context(), llm.Prompt{})
	if !memory.IsKind(err, memory.KindUnavailable) || server.Chats() != 1 {
		t.Errorf("%v after %d calls", err, server.Chats())
	}
}

func TestBreaker_OpensAndCloses(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	failing := func(delay time.Duration) llm.Chat { // after three failures
		server.SetDown(true)
		chat := dial(t, server.URL(), func(o *llm.Options) {
			o.Retries = -1
			o.BreakerFailures, o.BreakerDelay = 3, delay
		}).Chat("m")
		for range 3 {
			if _, err := chat.Answer(t.Context(), llm.Prompt{}); !memory.IsKind(err, memory.KindUnavailable) {
				t.Fatalf("%v", err)
			}
		}
		return chat
	}
	chat := failing(time.Hour)
	_, err := chat.Answer(t.Context(), llm.Prompt{})
	var m *memory.Error
	if server.Chats() != 3 || !errors.As(err, &m) || m.RetryAfter <= 0 ||
		!strings.Contains(err.Error(), "3 times in a row") {
		t.Errorf("%d calls, %v", server.Chats(), err)
	}
	chat = failing(time.Millisecond)
	server.SetDown(false)
	server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("{}") })
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err = chat.Answer(t.Context(), llm.Prompt{}); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the breaker stays open: %v", err)
		}
	}
	if server.Chats() != 7 {
		t.Errorf("%d calls", server.Chats())
	}
}

func TestBreaker_IgnoresCanceledCalls(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	asked := make(chan struct{}, 1)
	server.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		if r.User == "slow\n" {
			asked <- struct{}{}
			return llmtest.Hang()
		}
		return llmtest.Text("{}")
	})
	chat := dial(t, server.URL(), func(o *llm.Options) { o.BreakerFailures, o.Timeout = 2, time.Minute }).Chat("m")
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		_, err := chat.Answer(ctx, llm.Prompt{User: "slow"})
		if !memory.IsKind(err, memory.KindUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if _, err := chat.Answer(t.Context(), llm.Prompt{User: "quick"}); err != nil {
		t.Error(err)
	}
}

// The deadlines of callers count as failures even if the client's timeout is longer.
func TestBreaker_CountsDeadlinesOfCallers(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Hang() })
	chat := dial(t, server.URL(), func(o *llm.Options) {
		o.BreakerFailures = 2
		o.Timeout, o.BreakerDelay = time.Minute, time.Minute
	}).Chat("m")
	answer := func(timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		_, err := chat.Answer(ctx, llm.Prompt{})
		return err
	}
	// A call whose deadline has passed before it begins does not count.
	for range 5 {
		if err := answer(0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
	for range 2 {
		err := answer(300 * time.Millisecond)
		if !memory.IsKind(err, memory.KindUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
	err := answer(time.Minute)
	if err == nil || !strings.Contains(err.Error(), "2 times in a row") || server.Chats() > 2 {
		t.Errorf("%d calls, %v", server.Chats(), err)
	}
}

func TestAnswer_BoundsConcurrency(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	var active, most atomic.Int32
	server.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
		n := active.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		active.Add(-1)
		return llmtest.Text("{}")
	})
	chat := dial(t, server.URL(), func(o *llm.Options) { o.Concurrency, o.Timeout = 3, 10*time.Second }).Chat("m")
	errs := make(chan error)
	for range 30 {
		go func() {
			_, err := chat.Answer(context.Background(), llm.Prompt{})
			errs <- err
		}()
	}
	for range 30 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if most.Load() > 3 {
		t.Errorf("%d calls at once", most.Load())
	}
	// A call that waits for its turn ends with its context.
	server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Hang() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for range 6 {
		go func() {
			_, err := chat.Answer(ctx, llm.Prompt{})
			errs <- err
		}()
	}
	for range 6 {
		if err := <-errs; !memory.IsKind(err, memory.KindUnavailable) {
			t.Error(err)
		}
	}
}
