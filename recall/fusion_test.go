package recall

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hippocampus/db"
)

// The golden file holds the results of another program with the same formulas:
// terms, lexical scores, candidates, neighbours, cues and relevance, with and
// without similarities.
func TestFuse_MatchesTheGoldenFileOfAnotherProgram(t *testing.T) {
	t.Parallel()
	var golden struct {
		Documents []struct {
			ID, Conversation, Content, Lexemes string
			At                                 time.Time
		}
		Cases []struct {
			Query   string
			Terms   []string
			Cosine  []float64
			Ranking []struct {
				ID                                       string
				Cosine, BM25, Lexical, Neighbour         float64
				Speaker, Date, When, Question, Relevance float64
			}
		}
	}
	data, err := os.ReadFile("testdata/fusion.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	var docs []db.Document
	for _, d := range golden.Documents {
		docs = append(docs, db.Document{
			ID: idOf(d.ID), ConversationID: d.Conversation, Content: d.Content, Lexemes: d.Lexemes, CreatedAt: d.At,
		})
	}
	x := newIndex(0, docs)
	open := (&Query{}).scope(x).open
	s := &Service{set: ranking}
	for _, c := range golden.Cases {
		terms := queryTerms(c.Query)
		if !slices.Equal(terms, c.Terms) {
			t.Errorf("%q has the terms %q, not %q", c.Query, terms, c.Terms)
		}
		scores := s.scoreWords(terms, x, x.find(terms), open)
		places := scores.best(x, lift, open, 50)
		for doc := range c.Cosine {
			if !slices.Contains(places, doc) {
				places = append(places, doc)
			}
		}
		var candidates []candidate
		for _, doc := range places {
			one := candidate{id: docs[doc].ID, doc: doc, bm25: scores.bm25[doc], lexical: scores.relative[doc]}
			if c.Cosine != nil {
				one.cosine, one.compared = c.Cosine[doc], true
			}
			candidates = append(candidates, one)
		}
		fused := unite(fuse(candidates, x, &ranking, queryCuesOf(c.Query, begin), nil), x, false, nil)
		slices.SortFunc(fused, func(a, b relevant) int {
			return cmp.Or(cmp.Compare(b.relevance, a.relevance), cmp.Compare(a.id, b.id))
		})
		if len(fused) != len(c.Ranking) {
			t.Fatalf("%q has %d candidates, not %d", c.Query, len(fused), len(c.Ranking))
		}
		for i, want := range c.Ranking {
			got, what := fused[i], c.Query+" "+want.ID+" "
			if got.id != idOf(want.ID) {
				t.Errorf("%q: %s is at place %d instead of %s (%s)", c.Query, got.id, i, idOf(want.ID), want.ID)
				continue
			}
			approx(t, what+"bm25", got.bm25, want.BM25)
			approx(t, what+"lexical", got.lexical, want.Lexical)
			approx(t, what+"neighbour", got.neighbour, want.Neighbour)
			approx(t, what+"speaker", got.speaker, want.Speaker)
			approx(t, what+"date", got.date, want.Date)
			approx(t, what+"when", got.when, want.When)
			approx(t, what+"question", got.question, want.Question)
			approx(t, what+"relevance", got.relevance, want.Relevance)
		}
	}
}

// idOf returns an id for a name of at most 16 bytes. Ids are ordered like their names.
func idOf(name string) string {
	var id uuid.UUID
	copy(id[:], name)
	return id.String()
}

// Relevance is within 0..1, reaches 1 if there is any signal, and does not
// depend on the order of the candidates.
func TestFuse_IsBoundedAndIndependentOfTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		docs := make([]db.Document, n)
		found := make([]candidate, n)
		for i := range docs {
			docs[i].ConversationID = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "conversation")
			found[i] = candidate{
				id: string(rune('a' + i)), doc: i, compared: rapid.Bool().Draw(t, "compared"),
				cosine:  rapid.Float64Range(-1, 1).Draw(t, "cosine"),
				lexical: rapid.Float64Range(0, 1).Draw(t, "lexical"),
			}
		}
		fused := unite(fuse(found, newIndex(0, docs), &ranking, queryCues{}, nil), newIndex(0, docs), false, nil)
		highest, signal := 0.0, false
		for _, c := range fused {
			signal = signal || c.lexical > 0 || c.compared && c.cosine > 0
			if c.relevance < 0 || c.relevance > 1 || c.neighbour < 0 {
				t.Fatalf("relevance %v, neighbour %v", c.relevance, c.neighbour)
			}
			highest = max(highest, c.relevance)
		}
		if signal && highest != 1 {
			t.Fatalf("the best relevance is %v, not 1", highest)
		}
		slices.Reverse(found)
		turned := unite(fuse(found, newIndex(0, docs), &ranking, queryCues{}, nil), newIndex(0, docs), false, nil)
		slices.Reverse(turned)
		for i := range fused {
			if fused[i].relevance != turned[i].relevance {
				t.Fatalf("candidate %d: %v in one order, %v in the other",
					i, fused[i].relevance, turned[i].relevance)
			}
		}
	})
}

// Irrelevant candidates get no relevance, even if no candidate is relevant.
func TestFuse_GivesNoRelevanceWithoutASignal(t *testing.T) {
	t.Parallel()
	docs := make([]db.Document, 2)
	found := []candidate{{id: "a", doc: 0, compared: true}, {id: "b", doc: 1, compared: true}}
	fused := unite(fuse(found, newIndex(0, docs), &ranking, queryCues{}, nil), newIndex(0, docs), false, nil)
	if fused[0].relevance != 0 || fused[1].relevance != 0 {
		t.Errorf("relevance %v and %v", fused[0].relevance, fused[1].relevance)
	}
}

// Contrast sets candidates apart and keeps their order; a signal whose share is
// 0 changes nothing.
func TestFuse_AppliesContrastAndShares(t *testing.T) {
	t.Parallel()
	docs := make([]db.Document, 3)
	of := func(words, contrast float64, signals ...[2]float64) (relevances []float64) {
		set := ranking
		set.Words, set.Contrast = words, contrast
		var found []candidate
		for i, s := range signals {
			found = append(found, candidate{
				id: string(rune('a' + i)), doc: i, cosine: s[0], lexical: s[1], compared: true,
			})
		}
		for _, c := range unite(fuse(found, newIndex(0, docs), &set, queryCues{}, nil), newIndex(0, docs), false, nil) {
			relevances = append(relevances, c.relevance)
		}
		return relevances
	}
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Float64Range(0, 1)
		signal := func(name string) [2]float64 {
			return [2]float64{unit.Draw(t, name+" cosine"), unit.Draw(t, name+" lexical")}
		}
		one := signal("one")
		two := signal("two")
		three := signal("three")
		words, contrast := unit.Draw(t, "words"), rapid.Float64Range(1, 10).Draw(t, "contrast")
		plain, apart := of(words, 1, one, two, three), of(words, contrast, one, two, three)
		for i := range plain {
			approx(t, "relevance", apart[i], math.Pow(plain[i], contrast))
			for j := range plain {
				if plain[i] < plain[j] && apart[i] > apart[j] {
					t.Fatalf("%v in the order %v", plain, apart)
				}
			}
		}
		other := signal("another")
		a := of(0, contrast, one, two, three)
		if b := of(0, contrast, one, [2]float64{two[0], other[1]}, three); !slices.Equal(a, b) {
			t.Fatalf("words with a share of 0 change %v to %v", a, b)
		}
		a = of(1, contrast, one, two, three)
		if b := of(1, contrast, one, [2]float64{other[0], two[1]}, three); !slices.Equal(a, b) {
			t.Fatalf("vectors with a share of 0 change %v to %v", a, b)
		}
	})
}

// A small range of cosines does not outweigh the words of the query.
func TestSpan_CountsAsWideEnough(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ low, high, scaled float64 }{
		{low: -0.02, high: 0.05, scaled: 0.35},
		{low: 0.1, high: 0.6, scaled: 1},
		{low: 0.3, high: 0.3, scaled: 1},
		{low: 0, high: 0, scaled: 0},
	} {
		s := span{}
		s.add(c.low)
		s.add(c.high)
		if got := s.scale(c.high); math.Abs(got-c.scaled) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
