package recall

import (
	"testing"

	"hippocampus/internal/memory"
)

// moreThanHome writes a message that states a home and something else, a fact of each, and later another home.
func (f *fixture) moreThanHome(said, other string) (message memory.Memory) {
	f.t.Helper()
	message = f.inTalk(memory.RoleUser, said, 0)
	former := f.addFact("The user lives in Utrecht.", message)
	f.addFact(other, message)
	later := f.inTalk(memory.RoleUser, "I live in Groningen now.", 100)
	f.supersede(former, f.addFact("The user lives in Groningen.", later))
	return message
}

// matchOf returns the lexical score of a memory in the answer to a query, and whether the answer has it.
func (f *fixture) matchOf(q Query, id string) (lexical float64, isThere bool) {
	f.t.Helper()
	q.NoTouch = true
	for _, r := range f.recall(q).Memories {
		if r.Memory.ID == id {
			return r.Lexical, true
		}
	}
	return 0, false
}

// A message that states something else besides a former statement does not match by the words of the former one, unless
// the query asks for the past.
func TestFormerWords_DoNotMatch(t *testing.T) {
	t.Parallel()
	const (
		said = "I live in Utrecht. My brown dog is called Rex and sleeps on the balcony."
		dog  = "The user's dog is called Rex."
	)
	for _, c := range []struct {
		name, said, other, query string
		matches                  bool
	}{
		{"the former statement", said, dog, "live Utrecht", false},
		{"what is said besides", said, dog, "brown dog", true},
		{"a word said twice", "I live in Utrecht. My aunt in Utrecht has a brown dog on the balcony.", dog, "Utrecht", true},
		{
			"a word of an active fact", "I live with a brown dog and two cats near the canals of Utrecht, where it was born.",
			"The user's dog was born in Utrecht.", "Utrecht", true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.set.Candidates = 1000
			message := f.moreThanHome(c.said, c.other)
			x, _, err := f.loadIndex(t.Context(), ada, &index{})
			if err != nil {
				t.Fatal(err)
			}
			doc, _ := x.place(message.ID)
			found := x.find(queryTerms(c.query))
			without := x.withoutFormerWords(found)
			matched := false
			for _, list := range without {
				matched = matched || contains(list, uint32(doc))
			}
			if matched != c.matches {
				t.Errorf("%q matches %q: %v, want %v", c.said, c.query, matched, c.matches)
			}
			for lexeme, list := range found {
				if !contains(list, uint32(doc)) {
					t.Errorf("the message lacks %q", lexeme)
				}
			}
		})
	}
}

// The match and the confidence of an answer about the present lack the former words, and for the past they do not.
func TestFormerWords_CountForThePast(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const said = "I live in Utrecht. My brown dog is called Rex and sleeps on the balcony."
	message := f.moreThanHome(said, "The user's dog is called Rex.")
	const query = "Who paints balconies in Utrecht?"
	present, isThere := f.matchOf(Query{Text: query}, message.ID)
	past, wasThere := f.matchOf(Query{Text: query, IncludeFormer: true}, message.ID)
	if present >= past || !isThere || !wasThere {
		t.Errorf("the lexical score is %g about the present, and %g about the past", present, past)
	}
	now, then := f.recall(Query{Text: query}).Fit.Coverage, f.recall(Query{Text: query, IncludeFormer: true}).Fit.Coverage
	if now >= then {
		t.Errorf("the coverage is %g about the present, and %g about the past", now, then)
	}
}
