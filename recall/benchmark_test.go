package recall

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// manyDocuments returns n memories of 12 to 22 words with the frequencies of a
// natural language.
func manyDocuments(n int) []db.Document {
	random := rand.New(rand.NewPCG(1, 2))
	docs := make([]db.Document, n)
	for i := range docs {
		content := fmt.Sprintf("[2024-03-%02d] Nora:", i%28+1)
		for range 12 + random.IntN(10) {
			content += fmt.Sprintf(" w%d", int(math.Exp(random.Float64()*math.Log(20_000))))
		}
		docs[i] = db.Document{
			ID: memory.NewID(), Content: content, Lexemes: text.Join(text.Lexemes(content)),
			ConversationID: fmt.Sprint(i / 20), Importance: 0.8, CreatedAt: time.Unix(int64(i)*60, 0),
		}
	}
	return docs
}

// The lexical part of a recall of a user with 10,000 memories and a cached
// index: filter, terms, scores and the best of them.
func BenchmarkWordsAmong10000(b *testing.B) {
	x := newIndex(0, manyDocuments(10_000))
	s := &Service{set: ranking}
	q := Query{Text: "What did Nora say about w3 and w17 in w240 or w5000?"}
	b.ReportAllocs()
	for b.Loop() {
		open := q.scope(x).open
		terms := queryTerms(q.Text)
		scores := s.scoreWords(terms, x, x.find(terms), open)
		if len(scores.best(x, lift, open, 50)) != 50 {
			b.Fatal("fewer than 50 documents are found")
		}
	}
}

// Building the index of a user with 10,000 memories, as after a change.
func BenchmarkIndexOf10000(b *testing.B) {
	docs := manyDocuments(10_000)
	b.ReportAllocs()
	for b.Loop() {
		newIndex(0, docs)
	}
}

// Taking one written memory into the index of a user with 10,000 memories.
func BenchmarkChangeOf10000(b *testing.B) {
	docs := manyDocuments(10_001)
	x := newIndex(1, docs[:10_000])
	b.ReportAllocs()
	for b.Loop() {
		x.changed(db.Changes{Revision: 2, Documents: docs[10_000:]})
	}
}

// The fit of 100 candidates among 10,000 memories, with the words of the query.
func BenchmarkFitAmong10000(b *testing.B) {
	x := newIndex(0, manyDocuments(10_000))
	s := &Service{set: ranking}
	q := &subquery{Query: Query{Text: "What did Nora say about w3 and w17 in w240 or w5000?"}}
	q.terms = queryTerms(q.Text)
	r := searchResult{index: x, scope: q.scope(x), postings: x.find(append(nameLexemes(q.Text), q.terms...))}
	list := make([]relevant, 100)
	for i := range list {
		list[i] = relevant{candidate: candidate{id: x.id(i * 99), doc: i * 99}, relevance: 1 / float64(i+1)}
	}
	b.ReportAllocs()
	for b.Loop() {
		if s.fit(q, queryVector{}, r, list).Memories != 10_000 {
			b.Fatal("memories are missing")
		}
	}
}
