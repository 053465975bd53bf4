package ingest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

var tooLong = strings.Repeat("The garden needs water. ", 20)

// refuse makes the embedder answer with a status to calls that hold a text which isSuch chooses.
func (b *fixture) refuse(status int, isSuch func(text string) bool) {
	b.models.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply {
		if slices.ContainsFunc(r.Texts, isSuch) {
			return llmtest.Status(status)
		}
		return b.models.Embed(r)
	})
}

// refuseLong makes the embedder refuse texts of more than 200 bytes. The parts of a long text are longer.
func (b *fixture) refuseLong(status int) {
	b.refuse(status, func(s string) bool { return len(s) > 200 })
}

func (b *fixture) refuseLongerThan(bytes int) {
	b.refuse(http.StatusRequestEntityTooLarge, func(s string) bool { return len(s) > bytes })
}

func (b *fixture) refuseWord(word string) {
	b.refuse(http.StatusBadRequest, func(s string) bool { return strings.Contains(s, word) })
}

func (b *fixture) keptContents() (contents []string) {
	for _, m := range b.kept() {
		contents = append(contents, m.Content)
	}
	return contents
}

// wordsOnly returns the contents of the memories that have no embedding.
func wordsOnly(memories []memory.Memory) (contents []string) {
	for _, m := range memories {
		if m.WordsOnly() {
			contents = append(contents, m.Content)
		}
	}
	return contents
}

func TestProcess_KeepsRefusedMessagesByTheirWords(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			b := newMessageFixture(t)
			b.models.Facts("bees", llmtest.Fact{Fact: "I keep bees", Importance: 0.9, Domain: memory.Lifestyle})
			b.refuseLong(status)
			o := b.turn(tooLong+"I keep bees", "How many hives?", "Two of them", "Splendid hives")
			if o.Turn.Status != memory.TurnProcessed || len(o.Candidates) != 1 || o.Candidates[0].Verdict != memory.Kept {
				t.Errorf("the turn is %+v", o)
			}
			want := []string{tooLong + "I keep bees", "How many hives?", "Two of them", "Splendid hives"}
			if got := b.keptContents(); !slices.Equal(got, want) {
				t.Errorf("kept %q, want %q", got, want)
			}
			if got := wordsOnly(b.kept()); !slices.Equal(got, want[:1]) {
				t.Errorf("without an embedding: %q", got)
			}
			if n := b.Refused(); n != 1 {
				t.Errorf("%d refused messages were counted", n)
			}
		})
	}
}

// An embedder that refuses every text defers the turn: its messages are kept by their words, and embedded when it works
// again.
func TestProcess_DefersATurnThatTheEmbedderRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fact   string
		refuse func(*fixture)
	}{
		"every text": {"I keep bees", func(b *fixture) {
			b.models.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return llmtest.Status(http.StatusBadRequest) })
		}},
		"every text of a turn without facts": {"", func(b *fixture) {
			b.models.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return llmtest.Status(http.StatusBadRequest) })
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newMessageFixture(t)
			if test.fact != "" {
				b.models.Facts("bees", llmtest.Fact{Fact: test.fact, Importance: 0.9, Domain: memory.Lifestyle})
			}
			test.refuse(b)
			o := b.turn("I keep bees")
			if o.Turn.Status != memory.TurnAccepted || o.Turn.LastError == "" || len(wordsOnly(b.kept())) != 1 ||
				b.Refused() != 0 {
				t.Fatalf("the turn is %+v, %d messages refused", o.Turn, b.Refused())
			}
			b.models.OnEmbed(nil)
			if err := b.processTurn(t.Context(), o.Turn.ID); err != nil {
				t.Fatal(err)
			}
			if got := b.keptContents(); !slices.Equal(got, []string{"I keep bees"}) || len(wordsOnly(b.kept())) != 0 {
				t.Errorf("kept %q", got)
			}
		})
	}
}

// A fact that the embedder refuses is kept by its words.
func TestProcess_KeepsFactsThatTheEmbedderRefuses(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.models.Facts("bees", llmtest.Fact{Fact: tooLong + "The user keeps bees", Importance: 0.9, Domain: memory.Lifestyle},
		llmtest.Fact{Fact: "The user keeps bees", Importance: 0.9, Domain: memory.Lifestyle})
	b.refuseWord("garden")
	o := b.turn("I keep bees")
	if o.Turn.Status != memory.TurnProcessed || len(o.Candidates) != 2 ||
		o.Candidates[0].Verdict != memory.Kept || o.Candidates[1].Verdict != memory.Kept || len(b.kept()) != 1 {
		t.Errorf("%+v", o)
	}
	if got := wordsOnly(b.facts()); !slices.Equal(got, []string{tooLong + "The user keeps bees"}) {
		t.Errorf("without an embedding: %q", got)
	}
}

// A refused item of a batch is kept by its words. It fails alone, with a reason, if it has no words.
func TestWriteBatch_KeepsItemsThatTheEmbedderRefuses(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.refuse(http.StatusBadRequest, func(s string) bool {
		return strings.Contains(s, "garden") || strings.Contains(s, "🐝")
	})
	results := b.WriteBatch(t.Context(), []Write{
		{Owner: ada, Content: "I keep bees"}, {Owner: ada, Content: "🐝🐝"}, {Owner: ada, Content: tooLong},
		{Owner: ada, Content: tooLong + "It is green.", Dedup: true},
	})
	for i, r := range results {
		if (r.Err != nil) != (i == 1) {
			t.Errorf("item %d: %v", i, r.Err)
		}
	}
	if err := results[1].Err; !memory.IsKind(err, memory.KindInvalid) || len(wordsOnly(b.memories())) != 2 {
		t.Errorf("%v, %+v", err, b.memories())
	}
	garden := "The garden is green."
	changed, err := b.Change(t.Context(), ada.AppID, results[0].Written.Memory.ID, Change{Content: &garden})
	if err != nil || !changed.WordsOnly() {
		t.Errorf("the changed memory is %+v: %v", changed, err)
	}
}

// A text that is too long for the embedder is kept whole, and is found by the words at its end.
func TestProcess_EmbedsLongMessagesInParts(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.refuseLongerThan(300)
	said := strings.Repeat("The garden needs water. ", 20) + "My sister plays the cello in Lisbon."
	b.turn(said)
	if got := b.keptContents(); !slices.Equal(got, []string{said}) || b.Refused() != 0 {
		t.Errorf("kept %q, refused %d", got, b.Refused())
	}
}

// past processes turns of one message each, as turns from before messages were kept.
func (b *fixture) past(messages ...string) {
	b.t.Helper()
	b.set.Messages = false
	for _, said := range messages {
		b.turn(said)
	}
	b.predate()
	b.set.Messages = true
}

func TestTakeInPast_EmbedsTurnsTogether(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.past("I keep bees", "The harvest was good", "Thirty jars of honey")
	calls := b.models.Embeddings()
	if done, err := b.TakeInPast(t.Context()); err != nil || done != (TakenIn{Turns: 3, Messages: 3}) {
		t.Errorf("taken in: %+v: %v", done, err)
	}
	if n := b.models.Embeddings() - calls; n != 1 {
		t.Errorf("the embedder was called %d times for three turns", n)
	}
}

func TestTakeInPast_KeepsRefusedMessagesByTheirWords(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.past("I keep bees", tooLong, "The harvest was good", "Thirty jars of honey")
	b.refuseLong(http.StatusRequestEntityTooLarge)
	if done, err := b.TakeInPast(t.Context()); err != nil || done != (TakenIn{Turns: 4, Messages: 4}) {
		t.Errorf("taken in: %+v: %v", done, err)
	}
	want := []string{"I keep bees", strings.TrimSpace(tooLong), "The harvest was good", "Thirty jars of honey"}
	if got := b.keptContents(); !slices.Equal(got, want) || b.Refused() != 1 {
		t.Errorf("kept %q, want %q; %d messages refused", got, want, b.Refused())
	}
}
