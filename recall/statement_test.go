package recall

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// On whatever day a message was said, the same facts stand for it.
func TestFold_DoesNotDependOnTheDay(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(1, 2))
	queries := []string{
		"我是做什么的工程师？", "Where do I go hiking?", "Which food can I not stand?", "greyhound called Rex",
		"What happened on 2026-11-25?", "the flight at 12 on day 25", "meeting in room 05 at 10",
	}
	for _, query := range queries {
		embedded := map[string][]float32{} // by text, on every day the same
		want := folded(t, query, begin, embedded)
		for range 150 {
			day := begin.Add(time.Duration(dice.IntN(20*365*24)) * time.Hour)
			if got := folded(t, query, day, embedded); got != want {
				t.Fatalf("%q: on %s %s, on %s %s", query, begin, want, day, got)
			}
		}
	}
}

// folded returns which candidates of a query stand for others if all were said on a day. embedded keeps embeddings.
func folded(t *testing.T, query string, day time.Time, embedded map[string][]float32) string {
	t.Helper()
	var docs []db.Document
	var hits []hit
	vector := func(text string) []float32 {
		if v, known := embedded[text]; known {
			return v
		}
		vectors, err := hashed.Embed(t.Context(), llm.ForDocument, []string{text})
		if err != nil {
			t.Fatal(err)
		}
		embedded[text] = vectors[0]
		return vectors[0]
	}
	add := func(m memory.Memory, sources ...string) {
		docs = append(docs, db.Document{
			ID: m.ID, Content: m.Content, Speaker: m.Speaker, Type: m.Type, CreatedAt: day, DerivedFrom: sources,
			Lexemes: text.Join(text.Lexemes(m.IndexedText())),
		})
		similarity := Cosine(vector(query), vector(m.EmbeddedText()))
		hits = append(hits, hit{id: m.ID, similarity: similarity, source: fromVectors})
	}
	for i, said := range [][]string{
		{"我在上海做后端工程师，平时用 Go 写服务。", "用户在上海做后端工程师，用 Go 写服务"},
		{"I love hiking in the mountains on weekends, and I can't stand cilantro.",
			"The user loves hiking in the mountains on weekends", "The user cannot stand cilantro"},
		{"Guess what, I moved to Lisbon in May and adopted a greyhound called Rex!", "The user moved to Lisbon"},
		{"We meet on day 25 at 10 in room 05, and my flight is at 12.", "The user's flight is at 12"},
		{"How is the weather in 2026?"},
	} {
		message := memory.Memory{
			ID: idOf(fmt.Sprintf("%d-0", i)), Type: memory.TypeMessage, Speaker: memory.RoleUser, Content: said[0],
			CreatedAt: day,
		}
		add(message)
		for n, fact := range said[1:] {
			add(memory.Memory{ID: idOf(fmt.Sprintf("%d-%d", i, n+1)), Type: memory.TypeFact, Content: fact}, message.ID)
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return int(1e6 * (b.similarity - a.similarity)) })
	x := newIndex(0, docs)
	s := &Service{set: Settings{
		Lift: lift, Cues: cueWeights, LexicalFloor: 0.3, Words: 0.5, Contrast: 3, BM25: BM25{K1: 1.2, B: 0.4},
	}}
	q := Query{Owner: ada, Text: query, Candidates: 50, At: begin, Zone: time.UTC}
	found := searchResult{index: x, postings: x.find(queryTerms(query)), scope: q.scope(x), hits: [][]hit{hits}}
	asked := divide(q)[0]
	candidates := s.candidatesOf(&asked, found, hits)
	var dropped []string
	unite(fuse(candidates, x, &s.set, asked.cues, nil), x, false, func(r relevant, by string) {
		if x.kind(r.doc).Type == memory.TypeMessage {
			dropped = append(dropped, fmt.Sprintf("%s stands for %s", by, r.id))
		}
	})
	slices.Sort(dropped)
	return fmt.Sprint(dropped)
}

func TestIndex_StateTheSame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		speaker, message, fact string
		want                   bool
	}{
		"third person, English":     {"user", "I live in Groningen now.", "The user lives in Groningen now", true},
		"third person, Chinese":     {"user", "我在上海做后端工程师，平时用 Go 写服务。", "用户在上海做后端工程师，用 Go 写服务", true},
		"short, Chinese":            {"user", "我要去北京", "用户去北京", true},
		"first person":              {"user", "我喜欢猫", "我喜欢猫", true},
		"speaker":                   {"Ana Maria", "I moved to Lisbon", "The user moved to Lisbon", true},
		"one of two statements":     {"user", "I love hiking, and I can't stand cilantro.", "The user loves hiking", false},
		"another place, Chinese":    {"user", "我住在上海", "用户住在北京", false},
		"nothing but the day":       {"user", "I am", "The user lives in Lisbon since 2026", false},
		"the message says far more": {"user", "我在上海做后端工程师，还养了两只猫和一条狗。", "用户在上海做后端工程师", false},
	} {
		m := memory.Memory{Type: memory.TypeMessage, Speaker: c.speaker, Content: c.message, CreatedAt: begin}
		x := newIndex(0, []db.Document{
			{ID: idOf("1"), Type: memory.TypeMessage, Speaker: c.speaker, Lexemes: text.Join(text.Lexemes(m.IndexedText()))},
			{ID: idOf("2"), Lexemes: text.Join(text.Lexemes(c.fact))},
		})
		if got := x.stateTheSame(1, 0); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
