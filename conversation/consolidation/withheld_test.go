package consolidation

import (
	"context"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// withhold withholds a text of a turn's first message.
func (b *fixture) withhold(turn memory.Turn, text string) {
	b.t.Helper()
	err := b.store.InUser(context.Background(), ada, func(ctx context.Context, tx db.UserTx) error {
		if err := tx.ReviseConversation(ctx, turn.ConversationID, db.ConversationRevision{From: 1}); err != nil {
			return err
		}
		return tx.Withhold(ctx, turn.ID, []memory.Withheld{{Text: text, Statement: memory.NewID(), At: noon}})
	})
	if err != nil {
		b.t.Error(err)
	}
}

// What was forgotten is in no prompt of a consolidation and in no stated event that passes the gate.
func TestEnd_LeavesOutWhatIsWithheld(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	task := b.say("c", "", event(memory.Task, "Ada hides the red key."))
	said := b.say("c", "", event("", "The red key is under the mat. I plan a trip to Porto."), event("", "And to Braga."))
	b.withhold(task, "Ada hides the red key.")
	b.withhold(said, "The red key is under the mat.")
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

// A consolidation that has read what is forgotten meanwhile is made again.
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
			b.withhold(turn, "The red key is under the mat.")
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
