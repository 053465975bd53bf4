package reflection

import (
	"context"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

func TestPrompt_StatesDaysInTheZoneOfTheUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.Zone = func(context.Context, memory.Owner) (*time.Location, error) { return time.FixedZone("", 8*3600), nil }
	at := time.Date(2031, 5, 5, 20, 0, 0, 0, time.UTC)
	facts := []memory.Memory{{Content: "Rosalind moved to Bergen.", CreatedAt: at}}
	if _, err := b.askAbout(t.Context(), facts); err != nil {
		t.Fatal(err)
	}
	if user := b.chat.Prompts()[0].User; !strings.Contains(user, "2031-05-06, Tuesday") {
		t.Errorf("the day is not the user's: %s", user)
	}
	if facts[0].CreatedAt != at {
		t.Error("the fact of the caller has changed")
	}
}
