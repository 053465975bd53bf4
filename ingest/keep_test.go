package ingest

import (
	"net/http"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// What was said can be recalled while the model is asked, and whatever it answers. Processing the turn again adds the
// facts, which are derived from the messages.
func TestProcess_KeepsMessagesWhateverTheModelAnswers(t *testing.T) {
	t.Parallel()
	said := []string{"I keep bees", "How many hives?"}
	for name, answer := range map[string]llmtest.Reply{
		"no JSON":          llmtest.Text("no JSON at all"),
		"refused":          llmtest.Status(http.StatusBadRequest),
		"unavailable":      llmtest.Status(http.StatusServiceUnavailable),
		"broken endpoint":  llmtest.Raw("<html>Bad gateway</html>"),
		"wrong credential": llmtest.Status(http.StatusUnauthorized),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newMessageFixture(t)
			var whileAsked []string
			b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
				whileAsked = b.keptContents()
				return answer
			})
			o := b.turn(said...)
			if !slices.Equal(whileAsked, said) || o.Turn.LastError == "" {
				t.Fatalf("while the model is asked %q are kept; the turn is %+v", whileAsked, o.Turn)
			}
			before := b.kept()
			b.models.OnChat(nil)
			b.models.Facts("bees", llmtest.Fact{Fact: "The user keeps bees", Importance: 0.9, Domain: memory.Lifestyle})
			if _, err := b.Replay(t.Context(), ada.AppID, o.Turn.ID); err != nil {
				t.Fatal(err)
			}
			embedded := b.models.Embeddings()
			if err := b.processTurn(t.Context(), o.Turn.ID); err != nil {
				t.Fatal(err)
			}
			o = b.outcome(o.Turn.ID)
			fact := o.Candidates[len(o.Candidates)-1]
			if o.Turn.Status != memory.TurnProcessed || fact.Verdict != memory.Kept {
				t.Fatalf("processed again, the turn is %+v", o)
			}
			if got := b.kept(); !slices.Equal(memory.IDs(got), memory.IDs(before)) {
				t.Errorf("the messages are %q, and were %q", memory.IDs(got), memory.IDs(before))
			}
			if n := b.models.Embeddings() - embedded; n != 1 {
				t.Errorf("the embedder was called %d times for one fact", n)
			}
			sources, err := b.store.Sources(t.Context(), ada, []string{fact.MemoryID})
			if err != nil || len(sources[fact.MemoryID]) != 1 || sources[fact.MemoryID][0].ID != before[0].ID {
				t.Errorf("the fact was derived from %+v, %v", sources, err)
			}
		})
	}
}

// A statement that a user forgets while the model is asked about it does not become a fact. The model is asked again.
func TestProcess_ForgetsWhatTheModelIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.models.Facts("bees", llmtest.Fact{Fact: "The user keeps bees", Importance: 0.9, Domain: memory.Lifestyle})
	b.models.Facts("Lisbon", llmtest.Fact{Fact: "The user lives in Lisbon", Importance: 0.9, Domain: memory.Lifestyle})
	asked := 0
	b.models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		asked++
		if asked == 1 {
			if _, err := b.Forget(t.Context(), ada.AppID, b.kept()[0].ID, OfStatement); err != nil {
				t.Error(err)
			}
		}
		return b.models.Answer(r)
	})
	o := b.turn("I keep bees", "Where?", "I live in Lisbon")
	if o.Turn.Status != memory.TurnAccepted || len(o.Candidates) != 0 || len(b.memories()) != 2 {
		t.Fatalf("the turn is %+v with %d memories", o, len(b.memories()))
	}
	if err := b.processTurn(t.Context(), o.Turn.ID); err != nil {
		t.Fatal(err)
	}
	var contents []string
	for _, m := range b.memories() {
		contents = append(contents, m.Content)
	}
	slices.Sort(contents)
	want := []string{"I live in Lisbon", "The user lives in Lisbon", "Where?"}
	if !slices.Equal(contents, want) || asked != 2 {
		t.Errorf("after %d questions %q is known, want %q", asked, contents, want)
	}
}

// A worker that has lost its turn to another one, or to a withdrawal, stores nothing.
func TestProcess_KeepsNoMessageOfAWithdrawnTurn(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	turn := b.accept("I keep bees")
	if _, err := b.Withdraw(t.Context(), ada.AppID, turn.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.process(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	if n := b.models.Chats(); n != 0 || len(b.memories()) != 0 {
		t.Errorf("%d memories after %d questions", len(b.memories()), n)
	}
}

// A turn whose messages were stored before a model was asked is processed without a model if the server starts again
// without its key.
func TestProcess_FindsMessagesStoredBeforeTheModelWasTakenAway(t *testing.T) {
	t.Parallel()
	b := newFallbackFixture(t, llmtest.Text("no JSON at all"))
	b.refuseWord("🚲")
	o := b.turn("I live in Groningen.", "The city has many bicycles.", "🚲 🚲?", "thanks")
	before, leftOut := b.kept(), o.Turn.LeftOut
	if len(leftOut) != 2 || leftOut[0].Reason != memory.OmittedRefused || leftOut[1].Reason != memory.OmittedSmallTalk {
		t.Errorf("left out %+v", leftOut)
	}
	if len(before) != 2 || len(b.facts()) != 1 || o.Turn.Status != memory.TurnFailed {
		t.Fatalf("%d messages, %d facts, the turn is %s", len(before), len(b.facts()), o.Turn.Status)
	}
	b.Scorer, b.Rules = b.Rules, nil
	o = b.again(o.Turn.ID)
	if o.Turn.Status != memory.TurnProcessed || !slices.Equal(memory.IDs(b.kept()), memory.IDs(before)) {
		t.Errorf("the turn is %+v, the messages are %q", o.Turn, b.keptContents())
	}
	if !slices.Equal(o.Turn.LeftOut, leftOut) {
		t.Errorf("left out %+v, and before %+v", o.Turn.LeftOut, leftOut)
	}
	facts := b.facts()
	if len(facts) != 1 || facts[0].Content != "I live in Groningen." {
		t.Errorf("the facts are %q", b.factContents())
	}
	sources, err := b.store.Sources(t.Context(), ada, memory.IDs(facts))
	if err != nil || !slices.Equal(memory.IDs(sources[facts[0].ID]), memory.IDs(before[:1])) {
		t.Errorf("the fact was derived from %+v, %v", sources, err)
	}
}

// A recall between two attempts returns the turn's own messages. What the turn states is no echo of these.
func TestProcess_DoesNotTakeATurnForAnEchoOfItself(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Status(http.StatusServiceUnavailable) })
	o := b.turn("Where did we meet?", "We met on the night train to Lisbon in May.", "Exactly.")
	var touches []db.Touch
	for _, m := range b.kept() {
		touches = append(touches, db.Touch{Owner: ada, ID: m.ID, Count: 1, At: b.clock.Now()})
	}
	if err := b.store.Touch(t.Context(), touches); err != nil || len(touches) != 3 {
		t.Fatalf("%d touches, %v", len(touches), err)
	}
	b.models.OnChat(nil)
	b.models.Facts("train", llmtest.Fact{
		Fact: "We met on the night train to Lisbon in May.", Importance: 0.9, Domain: memory.Social,
	})
	o = b.again(o.Turn.ID)
	if len(o.Candidates) != 1 || o.Candidates[0].Verdict != memory.Kept {
		t.Errorf("%+v", o.Candidates)
	}
}
