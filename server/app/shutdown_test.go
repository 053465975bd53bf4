package app

import (
	"io"
	"strings"
	"testing"
	"time"

	"hippocampus/exchange"
	"hippocampus/internal/llm/llmtest"
)

func TestShutdown_AnswersClientsThatWaitForATurn(t *testing.T) {
	cfg := devConfig(t)
	models := llmtest.New(t)
	models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Hang() })
	cfg.Chat.APIKey = "key"
	cfg.Chat.BaseURL = models.URL()
	cfg.API.ShutdownTimeout = 5 * time.Second // shorter than the wait
	s := start(t, cfg)
	answered := make(chan string, 1)
	go func() {
		body := `{"user_id":"ada","wait":true,"messages":[{"role":"user","content":"I keep bees"}]}`
		res, err := s.client.Post(s.url+"/v1/turns", "application/json", strings.NewReader(body))
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
	s.cancel()
	if status := <-answered; !strings.HasPrefix(status, "202") {
		t.Errorf("the waiting client got %s", status)
	}
	s.stop()
}

// A stream may continue while requests are drained, and is then cut off.
func TestShutdown_EndsStreams(t *testing.T) {
	cfg := devConfig(t)
	cfg.API.ShutdownTimeout = 4 * time.Second // three quarters for the stream, and one for the rest
	s := start(t, cfg)
	body, stream := io.Pipe()
	answered := make(chan error, 1)
	go func() {
		res, err := s.client.Post(s.url+"/v1/import", "application/x-ndjson", body)
		if err == nil {
			err = res.Body.Close()
		}
		answered <- err
	}()
	// More than the sockets hold, so that the server is reading: blank lines and part of a first one.
	blank := strings.Repeat(strings.Repeat(" ", 1023)+"\n", 16<<10)
	if _, err := io.WriteString(stream, blank+`{"format":"`+exchange.Format+`",`); err != nil {
		t.Fatal(err)
	}
	s.cancel()
	select {
	case err := <-s.ended:
		if err == nil {
			t.Error("a stream was cut off without an error")
		}
	case <-time.After(longTime):
		t.Fatal("the server waits for a stream that never ends")
	}
	stream.Close()
	<-answered
	s.client.CloseIdleConnections()
}
