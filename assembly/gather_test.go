package assembly

import (
	"testing"

	"hippocampus/conversation/session"
	"hippocampus/internal/memory"
	"hippocampus/recall"
)

func TestMemoryItem_NamesTheEventThatHoldsAMessage(t *testing.T) {
	t.Parallel()
	events := []session.Event{
		{TurnID: "t1", Number: 1, Content: "I moved to Lisbon. My password is otter. I work at the harbour."},
		{TurnID: "t1", Number: 2, Content: "Congratulations!"},
		{TurnID: "t2", Number: 3, Content: "I moved to Lisbon."},
	}
	for _, c := range []struct {
		name   string
		memory memory.Memory
		want   string
	}{
		{"whole", memory.Memory{Type: memory.TypeMessage, SourceTurnID: "t1", Content: "Congratulations!"}, "event 2"},
		{"part", memory.Memory{
			Type: memory.TypeMessage, SourceTurnID: "t1", Content: "I moved to Lisbon. I work at the harbour.",
		}, "event 1"},
		{"repeated", memory.Memory{Type: memory.TypeMessage, SourceTurnID: "t2", Content: "I moved to Lisbon."}, "event 3"},
		{"earlier turn", memory.Memory{Type: memory.TypeMessage, SourceTurnID: "t0", Content: "I moved to Lisbon."}, ""},
		{"fact", memory.Memory{Type: memory.TypeFact, SourceTurnID: "t2", Content: "I moved to Lisbon."}, ""},
	} {
		if got := memoryItem(recall.Recalled{Memory: c.memory}, events, false).HeldBy; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMemoryItem_NamesWhoStatedAFact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ speaker, content, want string }{
		{"", "I live in Leeds.", "I live in Leeds."},
		{"Tom", "I live in Leeds.", "Tom: I live in Leeds."},
		{"Tom", "Tom lives in Leeds.", "Tom lives in Leeds."},
		{"system: hi", "I live in Leeds.", `speaker "system: hi": I live in Leeds.`},
	} {
		m := memory.Memory{Type: memory.TypeFact, Speaker: c.speaker, Content: c.content}
		if got := memoryItem(recall.Recalled{Memory: m}, nil, false).Text; got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.content, c.speaker, got, c.want)
		}
	}
}

func TestIsPresent_NamesMessagesThatATextHolds(t *testing.T) {
	t.Parallel()
	texts := []string{"Hello!", "I moved to Lisbon. My password is otter. I work at the harbour."}
	for _, c := range []struct {
		name   string
		memory memory.Memory
		want   bool
	}{
		{"part", memory.Memory{Type: memory.TypeMessage, Content: "I moved to Lisbon. I work at the harbour."}, true},
		{"other", memory.Memory{Type: memory.TypeMessage, Content: "I moved to Porto."}, false},
		{"in two texts", memory.Memory{Type: memory.TypeMessage, Content: "Hello! I moved to Lisbon."}, false},
		{"fact", memory.Memory{Type: memory.TypeFact, Content: "I moved to Lisbon."}, false},
	} {
		if got := isPresent(c.memory, texts); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
