package ingest

import (
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// The memories of a message that has its own time have that time, and so do the facts that were taken from it.
func TestProcess_GivesMemoriesTheTimesOfTheirMessages(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.models.Facts("Lisbon", llmtest.Fact{Fact: "Ana moved to Lisbon", Importance: 0.9, Domain: memory.Lifestyle})
	moved, answered := begin.Add(-72*time.Hour), begin.Add(-71*time.Hour)
	turn, _, err := b.Accept(t.Context(), memory.Turn{Owner: ada, ConversationID: "c", Messages: []memory.Message{
		{Role: "user", Name: "Ana", Content: "I moved to Lisbon.", At: moved},
		{Role: "assistant", Content: "Lisbon is where you live now.", At: answered},
		{Role: "user", Content: "I am tired of boxes.", At: answered.Add(-2 * time.Hour)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !turn.At.Equal(answered) {
		t.Errorf("the turn is of %v, want the time of its last message %v", turn.At, answered)
	}
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Time{
		"I moved to Lisbon.": moved, "Ana moved to Lisbon": moved, "Lisbon is where you live now.": answered,
		"I am tired of boxes.": answered.Add(-2 * time.Hour),
	}
	memories := b.memories()
	for _, m := range memories {
		if !m.CreatedAt.Equal(want[m.Content]) {
			t.Errorf("%q is of %v, want %v", m.Content, m.CreatedAt, want[m.Content])
		}
	}
	if len(memories) != len(want) {
		t.Errorf("there are %d memories, want %d: %+v", len(memories), len(want), memories)
	}
	done, err := b.ForgetSelected(t.Context(), Selection{Owner: ada, TurnID: turn.ID}, Forgetting{})
	if left := b.memories(); err != nil || len(left) > 0 {
		t.Errorf("after forgetting the turn, %d memories are left: %+v, %v", len(left), done, err)
	}
}

func TestAccept_DatesATurnByItsMessages(t *testing.T) {
	t.Parallel()
	early, late := begin.Add(-2*time.Hour), begin.Add(-time.Hour)
	for name, c := range map[string]struct {
		at       time.Time
		messages []time.Time
		want     time.Time
	}{
		"without times":       {messages: []time.Time{{}, {}}, want: begin},
		"with its own":        {at: early, messages: []time.Time{late, {}}, want: early},
		"by all messages":     {messages: []time.Time{late, early}, want: late},
		"by some of messages": {messages: []time.Time{late, {}}, want: begin},
	} {
		turn := memory.Turn{At: c.at}
		for _, at := range c.messages {
			turn.Messages = append(turn.Messages, memory.Message{Role: "user", Content: "words", At: at})
		}
		if got := dated(turn, begin).At; !got.Equal(c.want) {
			t.Errorf("%s: the turn is of %v, want %v", name, got, c.want)
		}
	}
}

// The answer to a statement is forgotten with it, although both have times of their own.
func TestForget_FindsTheAnswerOfAnotherTime(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	turn, _, err := b.Accept(t.Context(), memory.Turn{Owner: ada, ConversationID: "c", Messages: []memory.Message{
		{Role: "user", Content: "My doctor is called Wilhelmina.", At: begin.Add(-3 * time.Hour)},
		{Role: "assistant", Content: "I hope Wilhelmina helps you soon.", At: begin.Add(-3*time.Hour + time.Minute)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	kept := b.kept()
	if len(kept) != 2 {
		t.Fatalf("there are %d messages, want 2: %+v", len(kept), kept)
	}
	b.ForgetAll(t.Context(), ada.AppID, []string{kept[0].ID}, Forgetting{Scope: OfStatement})
	if left := b.kept(); len(left) > 0 {
		t.Errorf("after forgetting the statement, %q is left", left[0].Content)
	}
}
