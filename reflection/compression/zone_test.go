package compression

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
	b := newFixture(t, Settings{})
	b.Zone = func(context.Context, memory.Owner) (*time.Location, error) { return time.FixedZone("", 8*3600), nil }
	b.chat.OnPrompt(func(llm.Prompt) (string, error) { return `{"summaries":[]}`, nil })
	at := time.Date(2031, 5, 5, 20, 0, 0, 0, time.UTC)
	moved := []memory.Memory{{Content: "Rosalind moved.", CreatedAt: at}}
	_, _ = b.ask(t.Context(), group{memories: moved}) // the prompt counts
	prompts := b.chat.Prompts()
	if len(prompts) == 0 || !strings.Contains(prompts[0].User, "2031-05-06, Tuesday") {
		t.Errorf("the day is not the user's: %v", prompts)
	}
}
