package ingest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/heading"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// bare is a text without white space.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// remembered counts the characters that the memories of a turn hold of each of its messages, without white space.
func (b *fixture) remembered(turn memory.Turn) []int {
	b.t.Helper()
	counts := make([]int, len(turn.Messages))
	for place := range counts {
		for part := 0; ; part++ {
			m, err := b.store.Memory(b.t.Context(), ada.AppID, memory.DerivedID(turn.ID, place, part))
			if err != nil && part > 9 {
				break
			}
			counts[place] += visible(m.Content)
		}
	}
	return counts
}

func TestProcess_SaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.refuseWord("🐝")
	turn, _, err := b.Accept(t.Context(), memory.Turn{Owner: ada, Messages: []memory.Message{
		spoke("system", "Be brief."),
		spoke("user", heading.English.Sections[heading.Memories]+"\n- Lives in Porto.\n\nI moved to Lisbon."),
		spoke("assistant", strings.Repeat("Moving takes time. ", 8)+"\n- Label boxes"),
		spoke("user", "thanks"),
		{Role: "assistant", Content: "{}", Kind: memory.ToolUse},
		spoke("user", "🐝 🐝?"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.processTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	want := []memory.Omission{
		{Message: 0, Reason: memory.OmittedRole, Characters: 8},
		{
			Message: 1, Reason: memory.OmittedContext,
			Characters: len(bare(heading.English.Sections[heading.Memories] + "- Lives in Porto.")),
		},
		{Message: 2, Reason: memory.OmittedLongAnswer, Characters: 5 * 16},
		{Message: 3, Reason: memory.OmittedSmallTalk, Characters: 6},
		{Message: 4, Reason: memory.OmittedKind, Characters: 2},
		{Message: 5, Reason: memory.OmittedRefused, Characters: 3},
	}
	if got := b.outcome(turn.ID).Turn.LeftOut; !slices.Equal(got, want) {
		t.Errorf("left out %+v, want %+v", got, want)
	}
}

// A long answer is kept in parts of similar length that end with a sentence.
func TestProcess_KeepsALongAnswerInParts(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.set.AnswerRunes = 10_000
	answer := strings.Repeat("Moving takes a lot of time. ", 340)
	o := b.turn("How do I move?", answer)
	parts := b.keptContents()[1:]
	if len(parts) != 17 || len(o.Turn.LeftOut) != 0 || bare(strings.Join(parts, "")) != bare(answer) {
		t.Errorf("%d parts are kept, %+v is left out", len(parts), o.Turn.LeftOut)
	}
	for _, part := range parts {
		if len(part) < 500 || len(part) > 600 || !strings.HasSuffix(part, "time.") {
			t.Errorf("a part of %d characters ends with %q", len(part), part[len(part)-10:])
		}
	}
}

// pieces are the texts that the property joins to messages: sentences, small talk, a recalled memory and its context,
// list items, texts that the embedder refuses, other scripts.
var pieces = []string{
	"thanks", "I keep bees.", "Boa sorte! ", "The unspeakable happened. ", "How many hives are there? ", "我在学葡萄牙语。",
	"Ada lives in Porto. ", "\n- Label boxes\n", "  \n\n", "- Lives in Porto.\n", "🐝 ", "[secret] ",
	heading.English.Sections[heading.Memories] + "\n", strings.Repeat("Moving takes time. ", 60),
}

// The remembered parts of a turn's messages, and the parts left out, are all that was said, whatever fails.
func TestLeftOut_AndWhatIsRememberedIsAllThatWasSaid(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	recalled := b.write("Ada lives in Porto", 0.9, begin).Memory
	touch := db.Touch{Owner: recalled.Owner, ID: recalled.ID, Count: 1, At: begin}
	if err := b.store.Touch(t.Context(), []db.Touch{touch}); err != nil {
		t.Fatal(err)
	}
	withModel := b.Scorer
	rapid.Check(t, func(t *rapid.T) {
		b.set.AnswerRunes = rapid.SampledFrom([]int{0, 60, 10_000}).Draw(t, "characters of answers")
		b.Scorer = withModel
		if rapid.Bool().Draw(t, "rules") {
			b.Scorer = scorer.NewRules()
		}
		b.models.OnChat(rapid.SampledFrom([]func(llmtest.ChatRequest) llmtest.Reply{
			nil, func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("no JSON") },
			func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Status(http.StatusBadRequest) },
		}).Draw(t, "model"))
		b.models.OnEmbed(nil)
		switch word := rapid.SampledFrom([]string{"", "unspeakable", "🐝", "all"}).Draw(t, "refused"); word {
		case "":
		case "all":
			b.models.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return llmtest.Status(http.StatusServiceUnavailable) })
		default:
			b.refuseWord(word)
		}
		messages := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) memory.Message {
			return memory.Message{
				Role:    rapid.SampledFrom([]string{"user", "assistant", "user", "assistant", "system"}).Draw(t, "role"),
				Content: strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 5).Draw(t, "content"), ""),
				Kind:    rapid.SampledFrom([]memory.MessageKind{"", "", "", memory.ToolUse}).Draw(t, "kind"),
			}
		}), 1, 4).Draw(t, "messages")
		turn, _, err := b.Accept(b.t.Context(), memory.Turn{Owner: ada, Messages: messages})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.processTurn(b.t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
		turn = b.outcome(turn.ID).Turn
		remembered := b.remembered(turn)
		left := make([]int, len(messages))
		for _, o := range turn.LeftOut {
			left[o.Message] += o.Characters
		}
		for i, m := range messages {
			if remembered[i]+left[i] != visible(m.Content) {
				t.Fatalf("%s: %d characters of message %d are remembered and %d left out, of %d: %+v",
					turn.Status, remembered[i], i, left[i], visible(m.Content), turn.LeftOut)
			}
		}
	})
}
