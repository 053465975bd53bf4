package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/server/config"
)

// Writes alone lead to a reflection, with no schedule and nobody asking.
func TestWritesLeadToAReflection(t *testing.T) {
	model := llmtest.New(t)
	model.OnPrompt("hippocampus/reflect", func(llmtest.ChatRequest) llmtest.Reply {
		return llmtest.Text(`{"insights":[{"insight":"The user swims in five seas.","sources":[1,2,3,4,5]}]}`)
	})
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Dev = "127.0.0.1:0", t.TempDir(), true
	cfg.Schedule = config.Schedule{Timeout: time.Minute}
	cfg.Chat.BaseURL, cfg.Chat.APIKey = model.URL(), "key"
	ctx, cancel := context.WithCancel(t.Context())
	var out buffer
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, Host{Out: &out, Err: io.Discard, Now: time.Now}) }()
	url := waitFor(t, &out, ended)
	client := &http.Client{}
	for _, sea := range []string{"Baltic", "Adriatic", "Caspian", "Red", "Yellow"} {
		body := fmt.Sprintf(`{"user_id":"u","content":"The user swam across the %s Sea.","importance":0.9,"dedup":false}`, sea)
		res, err := client.Post(url+"/v1/memories", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusCreated {
			t.Fatal(res.Status)
		}
	}
	if result := completed(t, client, url+"/v1/jobs?kind=reflect_user"); !strings.Contains(result, `"insights":1`) || !strings.Contains(result, `"retired":5`) {
		t.Errorf("the job's result is %s", result)
	}
	client.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
