package ingest

import (
	"slices"
	"testing"

	"hippocampus/internal/memory"
)

// A reply that is small talk by itself is kept if it answers a question, of the same turn or of the one before.
func TestProcess_KeepsShortRepliesToQuestions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turns [][]memory.Message
		want  []string
	}{
		"in one turn": {
			[][]memory.Message{{spoke("assistant", "Do you keep bees?"), spoke("user", "thanks")}},
			[]string{"Do you keep bees?", "thanks"},
		},
		"after the result of a tool": {
			[][]memory.Message{{
				spoke("assistant", "Do you keep bees?"), {Role: "tool", Content: "42"}, spoke("user", "thanks"),
			}},
			[]string{"Do you keep bees?", "thanks"},
		},
		"over two turns": {
			[][]memory.Message{
				{spoke("user", "I have a garden"), spoke("assistant", "Do you keep bees there?")}, {spoke("user", "thanks")},
			},
			[]string{"I have a garden", "Do you keep bees there?", "thanks"},
		},
		"a yes": {
			[][]memory.Message{{spoke("assistant", "Do you keep bees?"), spoke("user", "Yes.")}},
			[]string{"Do you keep bees?", "Yes."},
		},
		"a no": {
			[][]memory.Message{{spoke("assistant", "Do you keep bees?"), spoke("user", "No.")}},
			[]string{"Do you keep bees?", "No."},
		},
		"a Chinese yes": {
			[][]memory.Message{{spoke("assistant", "您养蜜蜂吗？"), spoke("user", "是的")}},
			[]string{"您养蜜蜂吗？", "是的"},
		},
		"after a statement": {
			[][]memory.Message{{spoke("assistant", "Bees need a lot of water."), spoke("user", "thanks")}},
			[]string{"Bees need a lot of water."},
		},
		"of the assistant": {
			[][]memory.Message{{spoke("user", "Do bees need much water?"), spoke("assistant", "thanks")}},
			[]string{"Do bees need much water?"},
		},
		"after a question and a statement": {
			[][]memory.Message{{
				spoke("assistant", "Do you keep bees?"), spoke("assistant", "They need a lot of fresh water."),
				spoke("user", "thanks"),
			}},
			[]string{"Do you keep bees?", "They need a lot of fresh water."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newMessageFixture(t)
			for _, messages := range c.turns {
				turn, _, err := b.Accept(t.Context(), memory.Turn{Owner: ada, ConversationID: "c", Messages: messages})
				if err != nil {
					t.Fatal(err)
				}
				if err := b.processTurn(t.Context(), turn.ID); err != nil {
					t.Fatal(err)
				}
			}
			if got := b.keptContents(); !slices.Equal(got, c.want) {
				t.Errorf("kept %q, want %q", got, c.want)
			}
		})
	}
}
