package recall

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
)

// The golden file is another program's answer to the same formulas: terms,
// words, candidates, neighbours, cues and relevance, part by part, with an
// embedder and without.
func TestRelevanceIsAsAnotherProgramHasIt(t *testing.T) {
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
		docs = append(docs, db.Document{ID: d.ID, ConversationID: d.Conversation, Content: d.Content, Lexemes: d.Lexemes, CreatedAt: d.At})
	}
	x := newIndex(0, docs)
	open, _ := (&Query{}).filter(x, nil)
	s := &Service{set: ranking}
	for _, c := range golden.Cases {
		asked := queryTerms(c.Query)
		if !slices.Equal(asked, c.Terms) {
			t.Errorf("%q has the terms %q, not %q", c.Query, asked, c.Terms)
		}
		words := s.scoreWords(asked, x, open)
		places := words.best(x, lift, open, 50)
		for doc := range c.Cosine {
			if !slices.Contains(places, doc) {
				places = append(places, doc)
			}
		}
		var found []candidate
		for _, doc := range places {
			one := candidate{id: docs[doc].ID, doc: doc, bm25: words.bm25[doc], lexical: words.relative[doc]}
			if c.Cosine != nil {
				one.cosine, one.compared = c.Cosine[doc], true
			}
			found = append(found, one)
		}
		fused := fuse(found, x, &ranking, queryCuesOf(c.Query))
		slices.SortFunc(fused, func(a, b relevant) int {
			return cmp.Or(cmp.Compare(b.relevance, a.relevance), cmp.Compare(a.id, b.id))
		})
		if len(fused) != len(c.Ranking) {
			t.Fatalf("%q finds %d, not %d", c.Query, len(fused), len(c.Ranking))
		}
		for i, want := range c.Ranking {
			got, what := fused[i], c.Query+" "+want.ID+" "
			if got.id != want.ID {
				t.Errorf("%q: %s stands at %d in place of %s", c.Query, got.id, i, want.ID)
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
