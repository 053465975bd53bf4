package recall

import (
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// A model that knows English and Chinese alone finds all texts in another language alike.
func TestFit_IsOfWordsInALanguageThatTheModelDoesNotKnow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.set.Calibration = func(memory.Space) memory.Calibration {
		all := memory.SimilarityRange{Unrelated: -2, Related: -1} // every text is near
		return memory.Calibration{English: all, Chinese: all, Bilingual: true}
	}
	f.add("Mon frère répare des vélos dans un garage à Lille", nil, true)
	f.add("Le mardi soir, je chante dans une chorale", nil, true)
	for query, isAnswered := range map[string]bool{
		"Que répare mon frère ?":              true,
		"Quand expire mon passeport ?":        false,
		"Who repairs bicycles in the garage?": true,
	} {
		answer := f.recall(Query{Text: query})
		if len(answer.Memories) == 0 {
			t.Fatalf("%q finds nothing", query)
		}
		if got := answer.Memories[0].Confidence; got >= 0.15 != isAnswered {
			t.Errorf("%q: confidence %.3f with %+v, is answered: %v", query, got, answer.Fit, isAnswered)
		}
	}
}

func TestScattered_AreFewPairsOfAWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, memory, scattered string }{
		{"ודניאל", "עם דניאל", ""},
		{"מהנדס", "הנה", "הנ"},
		{"여권은", "여권이", ""},
		{"กาแฟแบบ", "ดื่มกาแฟดำ", ""},
		{"รถสี", "รถของฉันเป็นสีแดง", ""}, // two words
		{"بالسكر", "بدون سكر", ""},        // with an article
		{"我在上海", "我在北京", ""},              // Chinese
	} {
		has := func(term string) bool { return strings.Contains(c.memory, term) }
		var got []string
		for pair := range wordsInPairs(&subquery{Query: Query{Text: c.query}}).scattered(has) {
			got = append(got, pair)
		}
		if strings.Join(got, " ") != c.scattered {
			t.Errorf("%s in %s: scattered %q, want %q", c.query, c.memory, got, c.scattered)
		}
	}
}
