package consolidation

import (
	"strings"
	"testing"
	"time"

	"hippocampus/conversation/session"
	"hippocampus/internal/memory"
)

// Without a model, a summary lists the most important statements, each with its day and speaker.
func TestExtract_ListsTheMostImportantStatements(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("word ", 78)) + "."
	const head = "- 2026-03-01, user: "
	for _, test := range []struct {
		name   string
		events []memory.Message
		want   string
	}{
		{"important first, in their order", []memory.Message{event("", long), event(memory.Failure, "The pump broke."),
			event(memory.Task, "Order a pump. Call Bea!")},
			head + "The pump broke.\n" + head + "Order a pump.\n" + head + "Call Bea!"},
		{"statements first, of them the user's", []memory.Message{{Role: "assistant", Content: long},
			event("", "Is it 3.5 m long? It is."), {Role: "assistant", Content: "Yes."}},
			"- 2026-03-01, assistant: " + long + "\n" + head + "It is."},
		{"Chinese", []memory.Message{event("", "我住在上海。我喜欢绿茶！"), event(memory.Decision, "周五去杭州。"),
			event("", strings.Repeat("很", 190))}, head + "我住在上海。\n" + head + "我喜欢绿茶！\n" + head + "周五去杭州。"},
		{"by name", []memory.Message{{Role: "user", Name: "Ana", Content: "I row."}, {Role: "user", Name: "Tom",
			Content: "I swim."}}, "- 2026-03-01, Ana: I row.\n- 2026-03-01, Tom: I swim."},
		{"said once", []memory.Message{event("", "I swim."), event("", "i swim!")}, head + "I swim."},
		{"nothing", nil, ""},
	} {
		var events []session.Logged
		for _, m := range test.events {
			e := session.Logged{}
			e.Role, e.Name = m.Role, m.Name
			e.Content = m.Content
			e.Kind = m.Kind
			e.Importance = memory.Importance(m)
			e.At = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			if m.IsChat() {
				e.Kind = memory.Chat
			}
			events = append(events, e)
		}
		if got := extract(events); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
