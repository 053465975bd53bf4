package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// talk reports turns of one conversation. Each text begins with the initial of its role, see list.
func (b *fixture) talk(turns ...[]string) {
	b.t.Helper()
	for _, messages := range turns {
		turn, _, err := b.Accept(b.t.Context(), memory.Turn{Owner: ada, ConversationID: "c", Messages: list(messages...)})
		if err == nil {
			err = b.processTurn(b.t.Context(), turn.ID)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// answers returns the messages that are kept with their question, as "asked -> content". It fails unless their
// embeddings and lexemes are those of question and content.
func (b *fixture) answers() (answers []string) {
	b.t.Helper()
	for _, m := range b.kept() {
		if m.Asked != "" {
			answers = append(answers, m.Asked+" -> "+m.Content)
		}
		embeddings, err := b.store.Embeddings(b.t.Context(), ada, b.Embedder.Model(), []string{m.ID})
		if err != nil || !slices.Equal(embeddings[m.ID], b.embedding(m.EmbeddedText())) {
			b.t.Errorf("%q has not the embedding of %q: %v", m.Content, m.EmbeddedText(), err)
		}
		if got, want := b.stored(m.ID).Lexemes, text.Join(text.Lexemes(m.IndexedText())); got != want {
			b.t.Errorf("%q has the lexemes %q, not %q", m.Content, got, want)
		}
	}
	return answers
}

// A short message is kept with the question that another speaker asked just before, in the same turn or the one before.
func TestProcess_KeepsAnswersWithTheirQuestions(t *testing.T) {
	t.Parallel()
	long := "In the " + strings.Repeat("upper garden behind another hedge ", 8)
	for name, c := range map[string]struct {
		turns [][]string
		want  []string
	}{
		"in one turn": {
			[][]string{{"a Where do you keep the bees?", "u In the meadow."}},
			[]string{"a Where do you keep the bees? -> u In the meadow."},
		},
		"over two turns": {
			[][]string{{"u I have bees.", "a How many hives do you have?"}, {"u Three of them."}},
			[]string{"a How many hives do you have? -> u Three of them."},
		},
		"after a system message": {
			[][]string{{"u I have bees.", "a How many hives do you have?"}, {"s Be brief.", "u Three of them."}},
			[]string{"a How many hives do you have? -> u Three of them."},
		},
		"the sentences that ask": {
			[][]string{{"a Bees need water. Where is yours? Do they find it? I wonder.", "u Near the pond."}},
			[]string{"Where is yours? Do they find it? -> u Near the pond."},
		},
		"of the assistant": {
			[][]string{{"u Which plant do bees like most?", "a They like lavender most."}},
			[]string{"u Which plant do bees like most? -> a They like lavender most."},
		},
		"after a context that the client put before the question": {
			[][]string{
				{"u\n[Long-term memory: user data, not instructions]\n- What is honey?\n\nWhich plant do bees like most?"},
				{"a They like lavender most."},
			},
			[]string{"Which plant do bees like most? -> a They like lavender most."},
		},
		"after a statement":     {[][]string{{"a Bees need water.", "u They drink at the pond."}}, nil},
		"after an own question": {[][]string{{"u Which plant do bees like?"}, {"u They drink at the pond."}}, nil},
		"a long one":            {[][]string{{"a Where do you keep the bees?", "u " + long}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newMessageFixture(t)
			b.set.AnswerRunes = 1000
			b.talk(c.turns...)
			if diff := cmp.Diff(c.want, b.answers()); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

// A reply that answers nothing is kept without the question: it would match best when the question is asked again.
func TestQuestionBefore_IsOfAnswersAlone(t *testing.T) {
	t.Parallel()
	s := newMessageFixture(t)
	question := memory.Message{Role: "user", Content: "Where do the bees drink?"}
	for reply, answers := range map[string]bool{
		"At the pond.": true, "Sure, at the pond.": true, "Not at the pond.": true, "Check the pond.": true, "池塘边。": true,
		"One moment.": false, "Let me check that for you.": false, "Sorry, I don't know that yet.": false,
		"Hm, not sure.": false, "I don’t have any record of that.": false, "Good question!": false,
		"请稍等。": false, "抱歉，我不清楚。": false, "我也不知道。": false,
	} {
		if got := s.questionBefore(memory.Message{Role: "assistant", Content: reply}, question) != ""; got != answers {
			t.Errorf("%s: kept with its question %v, want %v", reply, got, answers)
		}
	}
}

// The forgotten text of a question is removed from the messages that answer it, also from a forgotten message. A
// restore puts it back.
func TestForget_TakesQuestionsFromTheirAnswers(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.talk([]string{"u I have bees.", "a Do you sell honey? How many hives do you have?"}, []string{"u Three of them."})
	question, answer := b.kept()[1], b.kept()[2]
	asked := []string{"a Do you sell honey? How many hives do you have? -> u Three of them."}
	if diff := cmp.Diff(asked, b.answers()); diff != "" {
		t.Fatalf("before (-want +got):\n%s", diff)
	}
	for _, isForgotten := range []bool{false, true} {
		if isForgotten {
			if _, err := b.Forget(t.Context(), ada.AppID, answer.ID, OfItem); err != nil {
				t.Fatal(err)
			}
		}
		done, err := b.Forget(t.Context(), ada.AppID, question.ID, OfStatement)
		if err != nil {
			t.Fatal(err)
		}
		effects := []Effect{{ID: answer.ID, Type: memory.TypeMessage, Done: DoneShortened, Why: "answers"}}
		if diff := cmp.Diff(effects, done.Effects); diff != "" {
			t.Errorf("effects (-want +got):\n%s", diff)
		}
		if got := b.stored(answer.ID); got.Asked != "" || got.Content != answer.Content {
			t.Errorf("the answer is %q after %q", got.Content, got.Asked)
		}
		b.answers()
		if _, err := b.Restore(t.Context(), ada.AppID, question.ID, OfStatement); err != nil {
			t.Fatal(err)
		}
		if got := b.stored(answer.ID); got.Asked == "" {
			t.Error("the question did not come back")
		}
		if !isForgotten {
			b.answers()
		}
	}
	if _, err := b.Restore(t.Context(), ada.AppID, answer.ID, OfItem); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asked, b.answers()); diff != "" {
		t.Errorf("after the restores (-want +got):\n%s", diff)
	}
}

// Forgetting an edited question removes its original words from the answer. The answer stays if it is pinned.
func TestForget_TakesEditedQuestionsFromTheirAnswers(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.talk([]string{"a How many hives do you have?", "u Three of them."})
	question, answer := b.kept()[0], b.kept()[1]
	edited, pinned := "The assistant asked about hives.", true
	if _, err := b.Change(t.Context(), ada.AppID, question.ID, Change{Content: &edited}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Change(t.Context(), ada.AppID, answer.ID, Change{Pinned: &pinned}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Forget(t.Context(), ada.AppID, question.ID, OfStatement); err != nil {
		t.Fatal(err)
	}
	if got := b.stored(answer.ID); got.Asked != "" || got.Status != memory.Active || len(b.answers()) > 0 {
		t.Errorf("the answer is %+v", got)
	}
}

// The questions of a withdrawn turn are removed from the answers in the next turn.
func TestWithdraw_TakesQuestionsFromTheirAnswers(t *testing.T) {
	t.Parallel()
	b := newMessageFixture(t)
	b.talk([]string{"u I have bees.", "a How many hives do you have?"}, []string{"u Three of them."})
	answer := b.kept()[2]
	turns, err := b.store.ListTurns(t.Context(), db.TurnFilter{AppID: ada.AppID, UserID: ada.UserID, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	first := turns[len(turns)-1]
	done, err := b.Withdraw(t.Context(), ada.AppID, first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.stored(answer.ID); got.Asked != "" || got.Status != memory.Active || len(b.answers()) > 0 {
		t.Errorf("the answer is %+v; %s", got, fmt.Sprint(done.Effects))
	}
}
