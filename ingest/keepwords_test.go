package ingest

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

// embedderFaults are the ways in which an embedder returns no vector for any text.
var embedderFaults = map[string]llmtest.Reply{
	"unavailable":     llmtest.Status(http.StatusServiceUnavailable),
	"refuses the key": llmtest.Status(http.StatusUnauthorized),
	"refuses all":     llmtest.Status(http.StatusBadRequest), "garbage": llmtest.Raw("<html>"), "cut": llmtest.Cut(),
}

// The messages of a turn are memories after the first attempt, whatever the embedder answers. Once it works, the turn's
// next attempt embeds them and takes the facts, each once.
func TestKeepByWords_KeepsMessagesWhileTheEmbedderFails(t *testing.T) {
	t.Parallel()
	for name, reply := range embedderFaults {
		for _, rules := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", rules", false: ", model"}[rules], func(t *testing.T) {
				t.Parallel()
				b := newMessageFixture(t)
				b.models.Facts("bees", llmtest.Fact{Fact: "I keep bees in Porto.", Importance: 0.9, Domain: memory.Lifestyle})
				if rules {
					b.Scorer = scorer.NewRules()
				}
				b.models.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return reply })
				o := b.turn("I keep bees in Porto.", "Many hives stand near the river.", "thanks")
				want := []string{"I keep bees in Porto.", "Many hives stand near the river."}
				for range 2 {
					if got := wordsOnly(b.kept()); !slices.Equal(got, want) || len(b.facts()) != 0 {
						t.Fatalf("kept by words are %q, facts %v", got, b.facts())
					}
					if left := o.Turn.LeftOut; o.Turn.Status != memory.TurnAccepted || len(left) != 1 || left[0].Message != 2 {
						t.Fatalf("the turn is %+v", o.Turn)
					}
					o = b.again(o.Turn.ID)
				}
				b.models.OnEmbed(nil)
				o = b.again(o.Turn.ID)
				if got := b.keptContents(); o.Turn.Status != memory.TurnProcessed || !slices.Equal(got, want) {
					t.Errorf("kept %q, the turn is %+v", got, o.Turn)
				}
				if got := wordsOnly(b.memories()); len(got) != 0 || len(b.facts()) != 1 || b.Refused() != 0 {
					t.Errorf("without an embedding are %q, facts %v, %d refused", got, b.facts(), b.Refused())
				}
				if left := o.Turn.LeftOut; len(left) != 1 || left[0].Message != 2 {
					t.Errorf("left out %+v", left)
				}
				stats, err := b.store.Stats(t.Context(), ada.AppID)
				if n := stats.Vectors[memory.VectorSynced]; err != nil || n != len(b.memories()) {
					t.Errorf("the vectors are %v: %v", stats.Vectors, err)
				}
			})
		}
	}
}

// A slow embedder does not keep messages from being found.
func TestKeepByWords_KeepsMessagesWhileTheEmbedderTakesItsTime(t *testing.T) {
	t.Parallel()
	for _, rules := range []bool{false, true} {
		b := newMessageFixture(t)
		b.models.Facts("bees", llmtest.Fact{Fact: "I keep bees in Porto.", Importance: 0.9, Domain: memory.Lifestyle})
		if rules {
			b.Scorer = scorer.NewRules()
		}
		b.set.KeepAfter = time.Millisecond
		stored := make(chan struct{})
		b.models.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply {
			<-stored
			return b.models.Embed(r)
		})
		turn := b.accept("I keep bees in Porto.")
		done := make(chan error, 1)
		go func() { done <- b.processTurn(t.Context(), turn.ID) }()
		want := []string{"I keep bees in Porto."}
		for !slices.Equal(wordsOnly(b.kept()), want) {
			if t.Context().Err() != nil {
				t.Fatal("the message is not kept")
			}
		}
		close(stored)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if o := b.outcome(turn.ID); o.Turn.Status != memory.TurnProcessed || !slices.Equal(b.keptContents(), want) ||
			len(wordsOnly(b.memories())) != 0 || len(b.facts()) != 1 {
			t.Errorf("rules %t: %+v, kept %q, without an embedding %q, facts %v", rules, o.Turn, b.keptContents(),
				wordsOnly(b.memories()), b.facts())
		}
	}
}

// A message that its user forgets while it has no embedding stays forgotten, and yields no fact.
func TestKeepByWords_LeavesForgottenMessagesAlone(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.Scorer = scorer.NewRules()
	b.models.OnEmbed(func(llmtest.EmbedRequest) llmtest.Reply { return llmtest.Status(http.StatusServiceUnavailable) })
	o := b.turn("I keep bees in Porto.", "How many hives?", "I live in Lisbon.")
	id := b.kept()[0].ID
	b.models.OnEmbed(nil)
	if _, err := b.Forget(t.Context(), ada.AppID, id, OfStatement); err != nil {
		t.Fatal(err)
	}
	o = b.again(o.Turn.ID)
	if got := b.keptContents(); !slices.Equal(got, []string{"How many hives?", "I live in Lisbon."}) {
		t.Errorf("kept %q", got)
	}
	if got := b.factContents(); o.Turn.Status != memory.TurnProcessed ||
		!slices.Equal(got, []string{"I live in Lisbon."}) {
		t.Errorf("the facts are %q, the turn is %+v", got, o.Turn)
	}
}
