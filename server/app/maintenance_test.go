package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/server/config"
)

func TestMaintenance_RunsOnSchedule(t *testing.T) {
	const often = "@every 1s"
	cfg := devConfig(t)
	cfg.Schedule = config.Schedule{
		Forgetting: often, Purge: often, Facts: often, Compression: often, Timeout: time.Minute,
	}
	s := start(t, cfg)
	for kind, want := range map[string]string{
		"forgetting": `{"users":0,"considered":0,"forgotten":0,"limited":0,"stopped":0,"failed":0,"notes":[]}`,
		"purge":      `{"purged":0}`,
		"recall_log": `{"purged":0}`,
		"facts":      `{"due":0,"begun":0,"ended":0,"failed":0}`,
		// There is no model.
		"compression": `{"users":0,"considered":0,"groups":0,"refused":0,"summaries":0,"retired":0,"failed":0}`,
	} {
		if result := s.jobResult(kind); result != want {
			t.Errorf("%s: %s, want %s", kind, result, want)
		}
	}
	s.stop()
}

func TestMaintenance_ReflectsAfterWritesWithoutASchedule(t *testing.T) {
	model := llmtest.New(t)
	model.OnPrompt("hippocampus/reflect", func(llmtest.ChatRequest) llmtest.Reply {
		return llmtest.Text(`{"insights":[{"insight":"The user swims in five seas.","sources":[1,2,3,4,5]}],` +
			`"retire":[1,2,3,4,5]}`)
	})
	cfg := devConfig(t)
	cfg.Schedule = config.Schedule{Timeout: time.Minute}
	cfg.Chat.BaseURL = model.URL()
	cfg.Chat.APIKey = "key"
	s := start(t, cfg)
	for _, sea := range []string{"Baltic", "Adriatic", "Caspian", "Red", "Yellow"} {
		content := fmt.Sprintf("The user swam across the %s Sea.", sea)
		s.post("/v1/memories", fmt.Sprintf(`{"user_id":"u","content":%q,"importance":0.9,"dedup":false}`, content))
	}
	result := s.jobResult("reflect_user")
	if !strings.Contains(result, `"insights":1`) || !strings.Contains(result, `"retired":5`) {
		t.Errorf("the job's result is %s", result)
	}
	s.stop()
}
