package session

import (
	"context"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

func TestPrompt_StatesDaysInTheZoneOfTheUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.withModel(small)
	s.Zone = func(context.Context, memory.Owner) (*time.Location, error) { return time.FixedZone("", 14*3600), nil }
	b.chat.OnPrompt(func(llm.Prompt) (string, error) { return `{"summary":"message"}`, nil })
	b.sayMany(s, "c", 1, 30)
	_, _ = b.compact(s, "c") // the prompt counts
	prompts := b.chat.Prompts()
	if len(prompts) == 0 {
		t.Fatal("the model was not asked")
	}
	if day := noon.AddDate(0, 0, 1).Format("2006-01-02, Monday"); !strings.Contains(prompts[0].User, day) {
		t.Errorf("the prompt has no %s: %s", day, prompts[0].User)
	}
}
