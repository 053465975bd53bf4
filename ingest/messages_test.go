package ingest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// newMessageFixture returns a fixture that keeps messages. "thanks" is small talk.
func newMessageFixture(t *testing.T) *fixture {
	t.Helper()
	b := newFixture(t)
	b.set.Messages, b.set.AnswerRunes = true, 60
	b.IsSmallTalk = func(s string) bool { return s == "thanks" }
	return b
}

// kept returns the active messages, oldest first.
func (b *fixture) kept() []memory.Memory {
	b.t.Helper()
	list := slices.DeleteFunc(b.memories(), func(m memory.Memory) bool { return m.Type != memory.TypeMessage })
	slices.SortFunc(list, func(x, y memory.Memory) int { return strings.Compare(x.ID, y.ID) })
	return list
}

func TestProcess_KeepsTheMessagesOfATurn(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.models.Facts("moved", llmtest.Fact{Fact: "Ana moved to Lisbon", Importance: 0.9, Domain: memory.Lifestyle})
	at := begin.Add(-48 * time.Hour)
	turn, _, err := b.Accept(t.Context(), memory.Turn{
		Owner: ada, AgentID: "butler", ConversationID: "c", At: at, Messages: []memory.Message{
			{Role: "system", Content: "Answer briefly."},
			{Role: "user", Name: "Ana", Content: "I moved to Lisbon. My password is [secret]."},
			{Role: "assistant", Content: "How exciting! " + strings.Repeat("Moving takes time. ", 4) +
				"\n1. Pack early\n- Label boxes"},
			{Role: "tool", Content: "42"},
			{Role: "user", Content: "thanks"},
			{Role: "user", Content: "a tool was used", Kind: memory.ToolUse},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	calls := b.models.Embeddings()
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	if n := b.models.Embeddings() - calls; n != 2 { // for the messages, then for the fact
		t.Errorf("the embedder was called %d times for one turn", n)
	}
	kept := b.kept()
	if len(kept) != 2 {
		t.Fatalf("%d messages were kept: %+v", len(kept), kept)
	}
	user, assistant := kept[0], kept[1]
	const said = "I moved to Lisbon. My password is [secret]."
	if user.Content != said || user.Speaker != "Ana" || user.SourceTurnID != turn.ID ||
		user.ConversationID != "c" || user.AgentID != "butler" || !user.CreatedAt.Equal(at) {
		t.Errorf("the user's message is %+v", user)
	}
	if want := text.Join(text.Lexemes("[2026-02-27] Ana: " + said)); user.Lexemes != want {
		t.Errorf("its lexemes are %q, want %q", user.Lexemes, want)
	}
	wantAnswer := "How exciting! Moving takes time. Moving takes time. 1. Pack early\n- Label boxes"
	if got := strings.Join(strings.Fields(assistant.Content), " "); got != strings.Join(strings.Fields(wantAnswer), " ") ||
		assistant.Speaker != "assistant" {
		t.Errorf("the answer is %q by %q", assistant.Content, assistant.Speaker)
	}
	if !(assistant.Importance < user.Importance && user.Importance < b.set.Threshold) {
		t.Errorf("importance of the user's message %v, of the answer %v", user.Importance, assistant.Importance)
	}
	fact := b.outcome(turn.ID).Candidates[0].MemoryID
	sources, err := b.store.Sources(t.Context(), ada, []string{fact})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources[fact]) != 1 || sources[fact][0].ID != user.ID {
		t.Errorf("the fact was derived from %+v, not from the user's message", sources[fact])
	}
}

// A statement that is repeated is one fact with two messages. Messages are never merged.
func TestProcess_NeverMergesMessages(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.models.Facts("bees", llmtest.Fact{Fact: "I keep bees", Importance: 0.9, Domain: memory.Lifestyle})
	first, second := b.turn("I keep bees"), b.turn("I keep bees")
	if first.Candidates[0].Verdict != memory.Kept || second.Candidates[0].Verdict != memory.Duplicate {
		t.Errorf("verdicts %s and %s", first.Candidates[0].Verdict, second.Candidates[0].Verdict)
	}
	if n := len(b.kept()); n != 2 {
		t.Errorf("%d messages, want 2", n)
	}
	fact := first.Candidates[0].MemoryID
	docs, err := b.store.Documents(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(docs, func(d db.Document) bool { return d.ID == fact })
	if i < 0 || len(docs[i].DerivedFrom) != 2 {
		t.Errorf("the fact among %+v was not derived from both messages", docs)
	}
	if w := b.write("I keep bees", 0.9, begin); w.Memory.ID != fact {
		t.Errorf("a direct write was merged into %s, not into the fact", w.Memory.ID)
	}
}

func TestProcess_DropsRepeatedMemoriesFromMessages(t *testing.T) {
	t.Parallel()
	const known = "Ana is allergic to walnuts and almonds"
	tests := map[string]struct {
		message memory.Message
		want    []string
	}{
		"answer that repeats one": {memory.Message{Role: "assistant", Content: known + ". Try the lemon cake instead!"},
			[]string{"Try the lemon cake instead!"}},
		"context before the user's words": {
			memory.Message{Role: "user", Content: "- " + known + "\nWhich cake shall I bake?"},
			[]string{"Which cake shall I bake?"},
		},
		"user who says it again": {memory.Message{Role: "user", Content: known}, []string{known}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newMessageFixture(t)
			recalled := b.write(known, 0.9, begin.Add(-time.Hour)).Memory
			touch := db.Touch{Owner: recalled.Owner, ID: recalled.ID, Count: 1, At: begin}
			if err := b.store.Touch(t.Context(), []db.Touch{touch}); err != nil {
				t.Fatal(err)
			}
			turn, _, err := b.Accept(t.Context(), memory.Turn{Owner: ada, Messages: []memory.Message{test.message}})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.processTurn(t.Context(), turn.ID); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range b.kept() {
				got = append(got, m.Content)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("kept %q, want %q", got, test.want)
			}
		})
	}
}

// A message is found by the words of its day. Its embedding does not contain the day.
func TestWrite_EmbedsAMessageWithoutItsDay(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	written, err := b.Write(t.Context(), Write{Owner: ada, Content: "I keep bees", Type: memory.TypeMessage, At: begin})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := b.store.Hydrate(t.Context(), ada, []string{written.Memory.ID}, []string{written.Memory.ID})
	if err != nil {
		t.Fatal(err)
	}
	want, err := b.Embedder.Embed(t.Context(), llm.ForDocument, []string{"I keep bees"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rows[0].Embedding, want[0]) {
		t.Error("the embedding is not that of the words alone")
	}
	if rows[0].Lexemes != "2026 03 01 keep bee" {
		t.Errorf("the day is no part of the lexemes %q", rows[0].Lexemes)
	}
}

// A fact that a model states in another language counts as taken from the user's only message.
func TestProcess_LinksAFactInOtherWords(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.models.Facts("abelhas", llmtest.Fact{Fact: "The user is a beekeeper", Importance: 0.9, Domain: memory.Lifestyle})
	turn := b.turn("Crio abelhas no quintal", "Que bom, quantas colmeias?")
	fact := turn.Candidates[0].MemoryID
	sources, err := b.store.Sources(t.Context(), ada, []string{fact})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources[fact]) != 1 || sources[fact][0].Content != "Crio abelhas no quintal" {
		t.Errorf("the fact was derived from %+v", sources[fact])
	}
	two := []memory.Memory{{Speaker: "user", Lexemes: "a"}, {Speaker: "user", Lexemes: "b"}}
	said := memory.Turn{Messages: []memory.Message{{Role: memory.RoleUser}, {Role: memory.RoleUser}}}
	if found := spoken("other words", said, two); found != nil {
		t.Errorf("of two messages, the fact was taken from %+v", found)
	}
}

// A fact has the name in the user's message that it was taken from, however it becomes a memory.
func TestStatedBy_IsTheNameInTheUsersMessage(t *testing.T) {
	t.Parallel()
	turn := memory.Turn{Owner: memory.Owner{AppID: "app", UserID: "nora"}, Messages: []memory.Message{
		{Role: "user", Name: "Tom", Content: "I live in Leeds."},
		{Role: "assistant", Name: "Bot", Content: "You live in Leeds, and the user owns a boat."},
		{Role: "user", Name: "Clara", Content: "I am allergic to peanuts."},
		{Role: "user", Name: "Nora", Content: "My sister studies law."},
		{Role: "user", Content: "We have a dog."},
	}}
	for fact, want := range map[string]string{
		"I live in Leeds.": "Tom", "Clara is allergic to peanuts": "Clara", "The user's sister studies law": "",
		"The user has a dog": "", "The user owns a boat": "", "用户喜欢喝茶": "",
	} {
		if got, _ := statedBy(fact, turn); got != want {
			t.Errorf("%s: stated by %q, want %q", fact, got, want)
		}
	}
	proposal := memory.Candidate{Content: "I live in Leeds."}
	if got := factOf(proposal, turn).Speaker; got != "Tom" {
		t.Errorf("a fact of Tom has the speaker %q", got)
	}
}
