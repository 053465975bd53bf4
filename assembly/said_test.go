package assembly

import (
	"strings"
	"testing"

	"hippocampus/conversation/session"
	"hippocampus/internal/memory"
)

func TestSaidBefore_IsTheLastExchange(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 100)
	event := func(role, content string) session.Event {
		return session.Event{Role: role, Kind: memory.Chat, Content: content}
	}
	for _, c := range []struct {
		events []session.Event
		want   string
	}{
		{nil, ""},
		{[]session.Event{event("user", "Hi."), event("assistant", "Hello."), event("user", "Who?"),
			event("assistant", "Ana.")}, "Who? Ana."},
		{[]session.Event{event("user", "Who?"), event("assistant", "Ana."), event("user", "And why?")}, "Who? Ana."},
		{[]session.Event{event("user", "Who?"), event("assistant", "Let me see."),
			{Role: "tool", Kind: memory.Observation, Content: "{}"}, event("assistant", "Ana.")}, "Who? Let me see."},
		{[]session.Event{event("assistant", "Welcome!")}, ""},
		{[]session.Event{event("user", "Who?"), event("user", "And why?"), event("assistant", "Because.")}, "Who?"},
	} {
		if got := saidBefore(c.events, "And why?"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	got := saidBefore([]session.Event{event("user", long), event("assistant", long)}, "And why?")
	if n := len([]rune(got)); n > 2*mostSaidBefore+1 || !strings.Contains(got, "… word") {
		t.Errorf("%d characters: %q", n, got)
	}
}
