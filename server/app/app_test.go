package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/server/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buffer is a writer that can be read meanwhile.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Run ends with its context: turns that are accepted before are kept, touches
// are flushed, and no goroutine is left behind.
func TestRunEndsCleanly(t *testing.T) { runEndsCleanly(t, config.Default()) }

func runEndsCleanly(t *testing.T, cfg config.Config) {
	cfg.Listen, cfg.Data, cfg.AdminKey = "127.0.0.1:0", t.TempDir(), "test-admin-key"
	cfg.Recall.TouchInterval = time.Hour // shutdown alone flushes
	client := &http.Client{}
	post := func(url, path, body string) string {
		t.Helper()
		req, err := http.NewRequest("POST", url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer test-admin-key")
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var out bytes.Buffer
		if _, err := out.ReadFrom(res.Body); err != nil || res.StatusCode/100 != 2 {
			t.Fatalf("%s: %d %s %v", path, res.StatusCode, out.String(), err)
		}
		return out.String()
	}
	for start := range 2 {
		ctx, cancel := context.WithCancel(context.Background())
		var out, logged buffer
		ended := make(chan error, 1)
		go func() { ended <- Run(ctx, cfg, Host{Out: &out, Err: &logged, Now: time.Now}) }()
		url := waitFor(t, &out, ended)
		if start == 0 {
			post(url, "/v1/turns", `{"user_id":"ada","wait":true,"messages":[{"role":"user","content":"I live in Oslo and I love skiing."}]}`)
		}
		answer := post(url, "/v1/recall", `{"user_id":"ada","query":"Where does Ada live?"}`)
		if !strings.Contains(answer, "Oslo") || !strings.Contains(answer, fmt.Sprintf(`"access_count":%d`, start)) {
			t.Errorf("start %d recalls %s", start, answer)
		}
		client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Fatalf("run ended with %v\n%s", err, logged.String())
		}
	}
}

// A start that fails makes no key: the one that is made is the one shown.
func TestAFailedStartMakesNoKey(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg := config.Default()
	cfg.Listen, cfg.Data = taken.Addr().String(), t.TempDir()
	if err := Run(t.Context(), cfg, Host{Out: io.Discard, Err: io.Discard, Now: time.Now}); err == nil || !strings.Contains(err.Error(), "--listen") {
		t.Fatalf("a taken address gives %v", err)
	}
	cfg.Listen = "127.0.0.1:0"
	ctx, cancel := context.WithCancel(t.Context())
	var out buffer
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, Host{Out: &out, Err: io.Discard, Now: time.Now}) }()
	waitFor(t, &out, ended)
	if !strings.Contains(out.String(), "shown this once: hp_") {
		t.Errorf("the first start that works shows no key:\n%s", out.String())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A client that waits for a turn is answered when the server ends.
func TestShutdownAnswersThoseWhoWait(t *testing.T) {
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Dev = "127.0.0.1:0", t.TempDir(), true
	models := llmtest.New(t)
	models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Hang() })
	cfg.Chat.APIKey, cfg.Chat.BaseURL = "key", models.URL()
	cfg.API.ShutdownTimeout = 5 * time.Second // shorter than the wait
	ctx, cancel := context.WithCancel(t.Context())
	var out buffer
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, Host{Out: &out, Err: io.Discard, Now: time.Now}) }()
	url := waitFor(t, &out, ended)
	client := &http.Client{}
	answered := make(chan string, 1)
	go func() {
		res, err := client.Post(url+"/v1/turns", "application/json", strings.NewReader(`{"user_id":"ada","wait":true,"messages":[{"role":"user","content":"I keep bees"}]}`))
		if err != nil {
			answered <- err.Error()
			return
		}
		defer res.Body.Close()
		answered <- res.Status
	}()
	for models.Chats() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if status := <-answered; !strings.HasPrefix(status, "202") {
		t.Errorf("who waited got %s", status)
	}
	client.CloseIdleConnections()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

var address = regexp.MustCompile(`listening on (http://\S+)`)

func waitFor(t *testing.T, out *buffer, ended chan error) string {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if m := address.FindStringSubmatch(out.String()); m != nil {
			return m[1]
		}
		select {
		case err := <-ended:
			t.Fatalf("the server ended: %v", err)
		default:
		}
	}
	t.Fatal("the server does not listen")
	return ""
}
