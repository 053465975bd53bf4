package recall

import (
	"context"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// addMessage writes a message.
func (f *fixture) addMessage(content string) memory.Memory {
	f.t.Helper()
	return f.add(content, func(m *memory.Memory) {
		m.Type = memory.TypeMessage
		m.Speaker = "Ana"
		m.Importance = 0.5
		m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
	}, true)
}

// addFact writes a fact that was taken from a message.
func (f *fixture) addFact(content string, from memory.Memory) memory.Memory {
	f.t.Helper()
	fact := f.add(content, nil, true)
	if err := f.store.InUser(f.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.AddRelations(ctx, []memory.Relation{
			{From: fact.ID, Kind: memory.DerivedFrom, To: from.ID, CreatedAt: begin},
		})
	}); err != nil {
		f.t.Fatal(err)
	}
	return fact
}

func TestRecall_MakesOneItemOfAFactAndItsMessage(t *testing.T) {
	t.Parallel()
	const (
		said  = "Guess what, I moved to Lisbon in May and adopted a greyhound called Rex!"
		moved = "Ana moved to Lisbon"
		dog   = "Ana adopted a greyhound called Rex"
	)
	tests := map[string]struct {
		query string
		facts []string
		types []memory.Type
		want  []string
	}{
		"a fact stands for its message": {
			query: "moved to Lisbon?", facts: []string{moved}, want: []string{moved},
		},
		"a message that says more stands for it": {
			query: "greyhound called Rex", facts: []string{moved}, want: []string{said},
		},
		"two facts of one message stay two": {
			query: "greyhound called Rex", facts: []string{moved, dog}, want: []string{moved, dog},
		},
		"messages alone": {
			query: "moved to Lisbon?", facts: []string{moved}, types: []memory.Type{memory.TypeMessage}, want: []string{said},
		},
		"facts alone": {
			query: "greyhound called Rex", facts: []string{moved}, types: []memory.Type{memory.TypeFact}, want: []string{moved},
		},
		"a message without a fact": {query: "greyhound called Rex", want: []string{said}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			message := f.addMessage(said)
			for _, fact := range test.facts {
				f.addFact(fact, message)
			}
			f.add("something about the weather in general", nil, true)
			answer := f.recall(Query{Text: test.query, Types: test.types, Limit: len(test.want) + 1})
			if n := len(answer.Memories); n > len(test.want) { // the last is about the weather
				answer.Memories = answer.Memories[:n-1]
			}
			expect(t, answer, test.want...)
		})
	}
}

func TestFold_RaisesAFactToItsMessage(t *testing.T) {
	t.Parallel()
	x := newIndex(0, []db.Document{
		{ID: idOf("1-message"), Type: memory.TypeMessage},
		{ID: idOf("2-fact"), DerivedFrom: []string{idOf("1-message"), idOf("gone")}},
		{ID: idOf("3-other")},
	})
	list := []relevant{
		{candidate: candidate{id: x.id(0), doc: 0}, statement: 0.9, relevance: 1},
		{candidate: candidate{id: x.id(1), doc: 1}, statement: 0.7, relevance: 0.25},
		{candidate: candidate{id: x.id(2), doc: 2}, statement: 0.7, relevance: 0.5},
	}
	got := fold(list, x, false, nil)
	if len(got) != 2 || got[0].doc != 1 || got[0].relevance != 1 || got[0].message != 0.75 || got[1].relevance != 0.5 {
		t.Errorf("folded to %+v", got)
	}
}

// A message is no item if each of its statements was superseded or is that of an active fact, unless the query asks for
// the past.
func TestFold_LeavesOutFormerMessages(t *testing.T) {
	t.Parallel()
	const (
		said    = "2026 03 01 live utrecht cat tom fond canal"
		content = "I live in Utrecht. My cat is Tom. I am fond of canals."
	)
	for name, c := range map[string]struct {
		lexemes, content string
		cat              string // lexemes of an active fact of the message
		past, kept       bool
		alone            bool
	}{
		"one clause, in the fact's words": {lexemes: "2026 03 01 live utrecht", content: "I live in Utrecht."},
		"nothing is active that superseded it": {
			lexemes: "2026 03 01 live utrecht", content: "I live in Utrecht.", alone: true,
		},
		"one clause, in others": {lexemes: "2026 03 01 move netherlands", content: "We moved to the Netherlands."},
		"two clauses, in other words": {
			lexemes: "2026 03 01 move netherlands like", content: "We moved to the Netherlands, and I like it.", kept: true,
		},
		"the past is asked for": {lexemes: "2026 03 01 live utrecht", content: "I live in Utrecht.", past: true, kept: true},
		"it says more":          {lexemes: said, content: content, cat: "cat tom", kept: true},
		"the rest is active": {
			lexemes: "2026 03 01 live utrecht cat tom", content: "I live in Utrecht. My cat is Tom.", cat: "user cat tom",
		},
	} {
		docs := []db.Document{
			{ID: idOf("1-former"), Type: memory.TypeMessage, Speaker: memory.RoleUser, Lexemes: c.lexemes, Content: c.content},
			{ID: idOf("2-home"), Lexemes: "user live groningen", CreatedAt: begin, Supersedes: []db.Former{
				{Lexemes: "user live utrecht", From: idOf("1-former"), Said: c.content},
			}},
		}
		if c.alone { // what superseded it is not active
			docs = docs[:1]
			docs[0].Supersedes = []db.Former{{Lexemes: "user live utrecht", From: docs[0].ID, Said: c.content}}
		}
		list := []relevant{{candidate: candidate{id: docs[0].ID, doc: 0}, relevance: 1, statement: 0.9}}
		if c.cat != "" {
			docs = append(docs, db.Document{ID: idOf("3-cat"), Lexemes: c.cat, DerivedFrom: []string{idOf("1-former")}})
			list = append(list, relevant{candidate: candidate{id: docs[2].ID, doc: 2}, relevance: 0.1})
		}
		var by []string
		got := fold(list, newIndex(0, docs), c.past, func(_ relevant, id string) { by = append(by, id) })
		kept := slices.ContainsFunc(got, func(r relevant) bool { return r.doc == 0 })
		successor := docs[min(1, len(docs)-1)].ID
		if kept != c.kept || !kept && (!slices.Equal(by, []string{successor}) || len(got) != len(list)-1) {
			t.Errorf("%s: kept %+v, left out by %q", name, got, by)
		}
	}
}

// A query for a former statement also finds the fact that superseded it.
func TestFold_RaisesAMemoryToTheMessagesThatItOutdates(t *testing.T) {
	t.Parallel()
	x := newIndex(0, []db.Document{
		{ID: idOf("1-former"), Type: memory.TypeMessage},
		{ID: idOf("2-message"), Type: memory.TypeMessage},
		{ID: idOf("3-fact"), DerivedFrom: []string{idOf("2-message")}, Supersedes: []db.Former{{From: idOf("1-former")}}},
	})
	list := []relevant{
		{candidate: candidate{id: x.id(0), doc: 0}, relevance: 1},
		{candidate: candidate{id: x.id(1), doc: 1}, relevance: 0.5},
		{candidate: candidate{id: x.id(2), doc: 2}, relevance: 0.25},
	}
	for name, c := range map[string]struct {
		values []float64 // of the former message, the message and the fact
		want   []int     // documents
	}{
		"the fact stands for its message": {[]float64{0.9, 0.4, 0.3}, []int{0, 2}},
		"its message says more":           {[]float64{0.9, 0.8, 0.3}, []int{0, 1, 2}},
	} {
		list := slices.Clone(list)
		for i, value := range c.values {
			list[i].statement = value
		}
		got := fold(list, x, true, nil)
		var docs []int
		for _, r := range got {
			docs = append(docs, r.doc)
		}
		if last := got[len(got)-1]; !slices.Equal(docs, c.want) || last.relevance != 1 || last.message != 0.75 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A message's speaker is a cue, as in a memory of the form "Name: text".
func TestRecall_KnowsTheSpeakerOfAMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.addMessage("The harvest was good")
	answer := f.recall(Query{Text: "What did Ana say?"})
	if len(answer.Memories) != 1 || answer.Memories[0].Speaker == 0 {
		t.Errorf("recalled %+v", answer.Memories)
	}
}
