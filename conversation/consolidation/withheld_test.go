package consolidation

import (
	"strings"
	"testing"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

// Forgotten text is in no prompt of a consolidation, and in no stated event that passes the gate.
func TestEnd_LeavesOutWhatIsWithheld(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	task := b.say("c", "", event(memory.Task, "Ada hides the red key."))
	said := b.say("c", "", event("", "The red key is under the mat. I plan a trip to Porto."), event("", "And to Braga."))
	apptest.Withhold(t, b.store, task, "Ada hides the red key.")
	apptest.Withhold(t, b.store, said, "The red key is under the mat.")
	prompts := 0
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		prompts++
		if strings.Contains(p.User, "red key") || !strings.Contains(p.User, "Porto") {
			t.Errorf("the prompt: %s", p.User)
		}
		if strings.Contains(p.System, "[hippocampus/replay]") {
			return goodReplay, nil
		}
		return nothing, nil
	})
	b.end("c")
	if prompts != 2 {
		t.Errorf("%d prompts, want 2", prompts)
	}
	want(t, "memories", b.memories(), []string{"summary 0.70 The user plans a trip."})
}

// A consolidation is made again if a statement is forgotten after it has read the log.
func TestReplay_IsMadeAgainIfTheLogHasANewEdition(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	turn := b.say("c", "", event("", "The red key is under the mat. I plan a trip."), event("", "On Monday."),
		event("", "Bye."))
	forgotten := false
	b.chat.OnPrompt(func(p llm.Prompt) (string, error) {
		switch {
		case !strings.Contains(p.System, "[hippocampus/replay]"):
			return nothing, nil
		case !forgotten:
			forgotten = true
			apptest.Withhold(t, b.store, turn, "The red key is under the mat.")
			return `{"summary":"The red key is under the mat."}`, nil
		}
		return goodReplay, nil
	})
	if _, err := b.End(t.Context(), "app", "ada", "c", memory.TriggerEnd); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Work(t.Context(), ConsolidateConversation{
		AppID: "app", UserID: "ada", ConversationID: "c", FirstTurnID: turn.ID, Trigger: memory.TriggerEnd,
	}); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("the first attempt: %v", err)
	}
	b.work("c", memory.TriggerEnd)
	want(t, "memories", b.memories(), []string{"summary 0.70 The user plans a trip."})
}
