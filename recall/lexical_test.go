package recall

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"hippocampus/db"
)

func documents(lexemes ...string) []db.Document {
	docs := make([]db.Document, len(lexemes))
	for i, l := range lexemes {
		docs[i] = db.Document{ID: string(rune('a' + i)), Lexemes: l}
	}
	return docs
}

// of returns the scores of terms in an index.
func (p BM25) of(terms []string, x *index) ([]float64, float64) {
	return p.scores(terms, x, x.find(terms))
}

// N = 3, average length 2. "tea": df 2, idf ln(1 + 1.5/2.5) = 0.470004; "green": df 1, idf ln(1 + 2.5/1.5) = 0.980829.
// First: length 3, norm 1.2*(0.6 + 0.4*1.5) = 1.44; tea twice: 0.470004*2*2.2/(2+1.44) = 0.601168,
// green once: 0.980829*2.2/2.44 = 0.884354. Second: length 1, norm 1.2*(0.6+0.2) = 0.96: 0.470004*2.2/1.96 = 0.527555.
func TestBM25_MatchesAHandComputedExample(t *testing.T) {
	t.Parallel()
	x := newIndex(0, documents("tea green tea", "tea", "coffe black"))
	scores, whole := BM25{K1: 1.2, B: 0.4}.of([]string{"green", "tea", "milk"}, x)
	for i, want := range []float64{0.601168 + 0.884354, 0.527555, 0} {
		if math.Abs(scores[i]-want) > 1e-5 {
			t.Errorf("document %d has %v, not %v", i, scores[i], want)
		}
	}
	// "milk": df 0, idf ln(1 + 3.5/0.5) = 2.079442.
	if math.Abs(whole-(0.980829+0.470004+2.079442)) > 1e-5 {
		t.Errorf("the whole idf is %v", whole)
	}
}

func TestBM25_IsZeroWithoutAMatch(t *testing.T) {
	t.Parallel()
	of := func(terms []string, lexemes ...string) []float64 {
		scores, _ := BM25{K1: 1.2, B: 0.4}.of(terms, newIndex(0, documents(lexemes...)))
		return scores
	}
	for name, scores := range map[string][]float64{
		"no terms": of(nil, "tea"), "no documents": of([]string{"tea"}),
		"empty documents": of([]string{"tea"}, "", ""), "no match": of([]string{"tea"}, "coffe"),
	} {
		for _, score := range scores {
			if score != 0 {
				t.Errorf("%s: %v", name, scores)
			}
		}
	}
}

// A further matching term never lowers a score, and every score is positive and finite.
func TestBM25_IsFiniteAndMonotone(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		var docs []db.Document
		for range rapid.IntRange(1, 8).Draw(t, "docs") {
			text := ""
			for range rapid.IntRange(0, 6).Draw(t, "words") {
				text += " " + word.Draw(t, "word")
			}
			docs = append(docs, db.Document{Lexemes: text})
		}
		terms := rapid.SliceOfNDistinct(word, 1, 3, rapid.ID[string]).Draw(t, "terms")
		p := BM25{K1: 1.2, B: 0.4}
		x := newIndex(0, docs)
		fewer, _ := p.of(terms, x)
		more, _ := p.of(append(terms, word.Draw(t, "more")), x)
		for doc, score := range fewer {
			if score < 0 || math.IsInf(score, 0) || math.IsNaN(score) {
				t.Fatalf("score %v", score)
			}
			if more[doc] < score-1e-12 {
				t.Fatalf("document %d fell from %v to %v", doc, score, more[doc])
			}
		}
	})
}
