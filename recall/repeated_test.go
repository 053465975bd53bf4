package recall

import (
	"context"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// inTalk writes a message of a conversation, so many minutes after the first one.
func (f *fixture) inTalk(speaker, content string, minutes int) memory.Memory {
	f.t.Helper()
	return f.add(content, func(m *memory.Memory) {
		m.Type, m.Speaker = memory.TypeMessage, speaker
		m.ConversationID = "c"
		m.CreatedAt = begin.Add(time.Duration(minutes-600) * time.Minute)
		m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
	}, true)
}

// moved writes that a user lives in Utrecht, and later in Groningen.
func (f *fixture) moved(answer string) (former, present memory.Memory) {
	f.t.Helper()
	return f.movedAfter("I live in Utrecht.", answer)
}

// movedAfter is moved with other words for the former home.
func (f *fixture) movedAfter(said, answer string) (former, present memory.Memory) {
	f.t.Helper()
	home := f.inTalk(memory.RoleUser, said, 0)
	f.inTalk(memory.RoleAssistant, answer, 0)
	former = f.addFact("The user lives in Utrecht.", home)
	present = f.addFact("The user lives in Groningen.", f.inTalk(memory.RoleUser, "I live in Groningen now.", 100))
	f.supersede(former, present)
	return former, present
}

// Answers about the present lack the assistant's repetitions of a former statement: its sentences are cut out, and a
// memory that says nothing else is left out.
func TestRepeated_AnswersLackFormerStatements(t *testing.T) {
	t.Parallel()
	for answer, left := range map[string]string{
		"Noted: you live in Utrecht.":                                 "",
		"Utrecht, got it!":                                            "",
		"Noted: you live in Utrecht. Do try the cheese market.":       "Do try the cheese market.",
		"Utrecht has lovely towpaths for a bicycle in May.":           "Utrecht has lovely towpaths for a bicycle in May.",
		"My cousin keeps bees. Noted: you live in Utrecht. He is ten": "My cousin keeps bees. He is ten",
	} {
		f := newFixture(t)
		f.moved(answer)
		want := []string{"The user lives in Groningen."}
		if left != "" {
			want = append(want, left)
		}
		expect(t, f.recall(Query{Text: "Where does the user live?", NoTouch: true}), want...)
	}
}

// A query about the past gets the repetition whole, with the time until which it was true. The explanation of a query
// about the present names it.
func TestRepeated_ThePastHasIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const answer = "Noted: you live in Utrecht."
	_, present := f.moved(answer)
	found := false
	past := f.recall(Query{Text: "Where does the user live?", NoTouch: true, IncludeFormer: true})
	for _, r := range past.Memories {
		if r.Memory.Content == answer {
			found = r.FormerUntil.Equal(present.CreatedAt)
		}
	}
	if !found {
		t.Errorf("the past: %+v", past.Memories)
	}
	explained := f.recall(Query{Text: "Where does the user live?", NoTouch: true, Explain: true}).Explanation.LeftOut
	named := false
	for _, l := range explained {
		named = named || l.Memory.Content == answer && l.Reason == Former
	}
	if !named {
		t.Errorf("left out: %+v", explained)
	}
}

// Statements that are made again, what the assistant says afterwards, another agent's answers and restored memories
// stay whole.
func TestRepeated_KeepsWhatIsSoNow(t *testing.T) {
	t.Parallel()
	const answer = "Noted: you live in Utrecht."
	for name, change := range map[string]func(f *fixture, former memory.Memory){
		"stated again": func(f *fixture, _ memory.Memory) { f.add("The user lives in Utrecht", nil, true) },
		"restored": func(f *fixture, former memory.Memory) {
			former.Revision += 2
			if err := f.store.InUser(f.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
				return tx.Update(ctx, former)
			}); err != nil {
				f.t.Fatal(err)
			}
		},
	} {
		f := newFixture(t)
		former, _ := f.moved(answer)
		change(f, former)
		if got := contents(f.recall(Query{Text: "Where does the user live?", NoTouch: true})); !slices.Contains(got, answer) {
			t.Errorf("%s: recalled %q", name, got)
		}
	}
	f := newFixture(t)
	f.moved("Fine.")
	const later = "You wrote that you live in Utrecht, and not any more."
	f.inTalk(memory.RoleAssistant, later, 6000)
	if got := contents(f.recall(Query{Text: "Where does the user live?", NoTouch: true})); !slices.Contains(got, later) {
		t.Errorf("said afterwards: recalled %q", got)
	}
}

// A summary of the conversation lacks former statements, unless it says that they are former; an insight of a
// superseded fact is no item.
func TestRepeated_SummariesAndInsights(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	former, present := f.moved("Fine.")
	insight := f.add("Likes old towns", func(m *memory.Memory) { m.Type = memory.TypeReflection }, true)
	if err := f.store.InUser(t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{
			{From: insight.ID, Kind: memory.DerivedFrom, To: former.ID, CreatedAt: begin},
			{From: insight.ID, Kind: memory.DerivedFrom, To: present.ID, CreatedAt: begin},
		})
	}); err != nil {
		t.Fatal(err)
	}
	summary := func(content string) {
		f.add(content, func(m *memory.Memory) { m.Type, m.ConversationID = memory.TypeSummary, "c" }, true)
	}
	summary("The user lives in Utrecht. They talked about cheese.")
	summary("The user lived in Utrecht and lives in Groningen since May.")
	const query = "Where does the user live, and does the user like towns?"
	expect(t, f.recall(Query{Text: query, NoTouch: true}), "The user lives in Groningen.", "Fine.",
		"They talked about cheese.", "The user lived in Utrecht and lives in Groningen since May.")
	for _, r := range f.recall(Query{Text: query, NoTouch: true, IncludeFormer: true}).Memories {
		if r.Memory.ID == insight.ID {
			if !r.FormerUntil.Equal(present.CreatedAt) {
				t.Errorf("the insight is former until %v", r.FormerUntil)
			}
			return
		}
	}
	t.Error("the past lacks the insight")
}

// A statement of one word is found in its answer and in the summary of its conversation alone.
func TestRepeated_StatementsOfOneWord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said := f.inTalk(memory.RoleUser, "I smoke.", 0)
	f.inTalk(memory.RoleAssistant, "Noted, you smoke. Flights are long.", 0)
	f.inTalk(memory.RoleAssistant, "Does the user smoke ham at home?", 90)
	f.add("- 2026-03-01, user: I smoke.\n- 2026-03-01, assistant: Flights are long.", func(m *memory.Memory) {
		m.Type, m.ConversationID = memory.TypeSummary, "c"
	}, true)
	former := f.addFact("The user smokes.", said)
	f.supersede(former, f.addFact("The user quit smoking.", f.inTalk(memory.RoleUser, "I quit smoking.", 100)))
	got := f.recall(Query{Text: "Does the user smoke?", NoTouch: true})
	want := []string{
		"The user quit smoking.", "Does the user smoke ham at home?", "Flights are long.",
		"- 2026-03-01, assistant: Flights are long.",
	}
	contents := []string{}
	for _, r := range got.Memories {
		contents = append(contents, r.Memory.Content)
	}
	slices.Sort(contents)
	slices.Sort(want)
	if !slices.Equal(contents, want) {
		t.Errorf("got %q, want %q", contents, want)
	}
}

// A message of the user that also states something else is returned without what is former. A query about the past
// gets it whole.
func TestRepeated_CutsTheUsersFormerSentence(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const farm = "My sister Mara keeps a hundred goats on a farm."
	const whole = "I live in Utrecht. " + farm
	f.movedAfter(whole, "Noted.")
	query := Query{Text: "Who keeps goats on a farm?", NoTouch: true}
	if got := f.recall(query).Memories; len(got) == 0 || got[0].Memory.Content != farm {
		t.Errorf("%+v", got)
	}
	query.IncludeFormer = true
	if got := f.recall(query).Memories; len(got) == 0 || got[0].Memory.Content != whole {
		t.Errorf("for the past: %+v", got)
	}
}
