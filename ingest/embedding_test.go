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

// refuseLong makes the embedder refuse calls that hold a text of more than 200 bytes.
func (b *fixture) refuseLong(status int) {
	b.models.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply {
		if slices.ContainsFunc(r.Texts, func(s string) bool { return len(s) > 200 }) {
			return llmtest.Status(status)
		}
		return b.models.Embed(r)
	})
}

func (b *fixture) keptContents() (contents []string) {
	for _, m := range b.kept() {
		contents = append(contents, m.Content)
	}
	return contents
}

func TestProcess_LeavesOutRefusedMessages(t *testing.T) {
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
			want := []string{"How many hives?", "Two of them", "Splendid hives"}
			if got := b.keptContents(); !slices.Equal(got, want) {
				t.Errorf("kept %q, want %q", got, want)
			}
			if n := b.Refused(); n != 1 {
				t.Errorf("%d refused messages were counted", n)
			}
		})
	}
}

// A refused fact defers the turn, whose messages are kept at once. An embedder that refuses every text defers them too.
func TestProcess_DefersATurnThatTheEmbedderRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fact   string
		refuse func(*fixture)
		kept   int // messages, while the embedder refuses
	}{
		"fact": {tooLong, func(b *fixture) { b.refuseLong(http.StatusBadRequest) }, 1},
		"every text": {"I keep bees", func(b *fixture) {
			b.models.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return llmtest.Status(http.StatusBadRequest) })
		}, 0},
		"every text of a turn without facts": {"", func(b *fixture) {
			b.models.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return llmtest.Status(http.StatusBadRequest) })
		}, 0},
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
			if o.Turn.Status != memory.TurnAccepted || o.Turn.LastError == "" || len(b.kept()) != test.kept ||
				b.Refused() != 0 {
				t.Fatalf("the turn is %+v, %d messages refused", o.Turn, b.Refused())
			}
			b.models.OnEmbed(nil)
			if err := b.processTurn(t.Context(), o.Turn.ID); err != nil {
				t.Fatal(err)
			}
			if got := b.keptContents(); !slices.Equal(got, []string{"I keep bees"}) {
				t.Errorf("kept %q", got)
			}
		})
	}
}

// past processes turns of one message each as they were before messages were kept.
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

func TestTakeInPast_LeavesOutRefusedMessages(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.past("I keep bees", tooLong, "The harvest was good", "Thirty jars of honey")
	b.refuseLong(http.StatusRequestEntityTooLarge)
	if done, err := b.TakeInPast(t.Context()); err != nil || done != (TakenIn{Turns: 4, Messages: 3}) {
		t.Errorf("taken in: %+v: %v", done, err)
	}
	want := []string{"I keep bees", "The harvest was good", "Thirty jars of honey"}
	if got := b.keptContents(); !slices.Equal(got, want) || b.Refused() != 1 {
		t.Errorf("kept %q, want %q; %d messages refused", got, want, b.Refused())
	}
}
