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

// N = 3, average length 2. "tea": df 2, idf ln(1 + 1.5/2.5) = 0.470004; "green": df 1, idf ln(1 + 2.5/1.5) = 0.980829.
// First: length 3, norm 1.2*(0.6 + 0.4*1.5) = 1.44; tea twice: 0.470004*2*2.2/(2+1.44) = 0.601168,
// green once: 0.980829*2.2/2.44 = 0.884354. Second: length 1, norm 1.2*(0.6+0.2) = 0.96: 0.470004*2.2/1.96 = 0.527555.
func TestBM25IsAsComputedByHand(t *testing.T) {
	t.Parallel()
	docs := documents("tea green tea", "tea", "coffe black")
	hits := BM25{K1: 1.2, B: 0.4}.rank([]string{"green", "tea", "tea"}, docs)
	if len(hits) != 2 || hits[0].doc != 0 || hits[1].doc != 1 {
		t.Fatalf("hits %+v", hits)
	}
	if math.Abs(hits[0].score-(0.601168+0.884354)) > 1e-5 || math.Abs(hits[1].score-0.527555) > 1e-5 {
		t.Errorf("scores %v and %v", hits[0].score, hits[1].score)
	}
}

func TestBM25OfNothing(t *testing.T) {
	t.Parallel()
	p := BM25{K1: 1.2, B: 0.4}
	for name, hits := range map[string][]lexicalHit{
		"no terms": p.rank(nil, documents("tea")), "no documents": p.rank([]string{"tea"}, nil),
		"empty documents": p.rank([]string{"tea"}, documents("", "")), "no match": p.rank([]string{"tea"}, documents("coffe")),
	} {
		if len(hits) != 0 {
			t.Errorf("%s: %+v", name, hits)
		}
	}
}

// A further matching term never lowers a score, and every score is positive and finite.
func TestBM25Properties(t *testing.T) {
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
		terms := rapid.SliceOfN(word, 1, 3).Draw(t, "terms")
		p := BM25{K1: 1.2, B: 0.4}
		fewer := map[int]float64{}
		for _, h := range p.rank(terms, docs) {
			if !(h.score > 0) || math.IsInf(h.score, 0) {
				t.Fatalf("score %v", h.score)
			}
			fewer[h.doc] = h.score
		}
		more := map[int]float64{}
		for _, h := range p.rank(append(terms, word.Draw(t, "more")), docs) {
			more[h.doc] = h.score
		}
		for doc, score := range fewer {
			if more[doc] < score-1e-12 {
				t.Fatalf("document %d fell from %v to %v", doc, score, more[doc])
			}
		}
	})
}
