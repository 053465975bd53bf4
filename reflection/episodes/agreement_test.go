package episodes

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/bilingual"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

var ranges = memory.Calibration{
	English: memory.SimilarityRange{Unrelated: 0.03, Related: 0.42, Floor: 0.06},
	Chinese: memory.SimilarityRange{Unrelated: -0.01, Related: 0.33, Floor: 0.04},
}

// life reads a life of testdata: its statements, and the episode that a reader puts each into by its id.
func life(t testing.TB, name string) (items []item, expected map[string]string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	expected = map[string]string{}
	e := bilingual.New()
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		at, err := time.Parse("2006-01-02T15:04", f[0])
		if err != nil {
			t.Fatal(err)
		}
		vec, err := e.Embed(t.Context(), llm.ForDocument, []string{f[2]})
		if err != nil {
			t.Fatal(err)
		}
		it := item{
			id: fmt.Sprintf("%03d", len(items)), at: at, content: f[2], embedding: vec[0],
		}
		items = append(items, it)
		expected[it.id] = f[1]
	}
	return items, expected
}

// agreement compares pairs of statements: precision is the share of the pairs in one episode that a reader puts into
// one episode, and recall the share of a reader's pairs.
func agreement(found [][]item, expected map[string]string) (precision, recall float64) {
	episode := map[string]int{}
	for n, e := range found {
		for _, it := range e {
			episode[it.id] = n + 1
		}
	}
	var both, ours, readers float64
	for a, ea := range expected {
		for b, eb := range expected {
			if a >= b {
				continue
			}
			same := ea == eb && ea != "-"
			grouped := episode[a] == episode[b] && episode[a] > 0
			if same {
				readers++
			}
			if grouped {
				ours++
			}
			if same && grouped {
				both++
			}
		}
	}
	return both / ours, both / readers
}

// What is grouped is what a reader groups. The rule was chosen by the lives of half a year; the other lives were
// written afterwards.
func TestGroup_AgreesWithAReader(t *testing.T) {
	t.Parallel()
	for name, least := range map[string][2]float64{
		"life_en": {0.85, 0.75}, "life_zh": {0.7, 0.75}, "other_en": {0.8, 0.6}, "other_zh": {0.8, 0.6},
	} {
		items, expected := life(t, name)
		found := group(items, ranges)
		precision, recall := agreement(found, expected)
		t.Logf("%s: %d episodes, precision %.3f, recall %.3f", name, len(found), precision, recall)
		words := corpusOf(items)
		for _, e := range found {
			t.Logf("%s: %s", titleOf(words.termsOf(e)), strings.Join(contents(e), " | "))
		}
		if precision < least[0] || recall < least[1] {
			t.Errorf("%s: precision %.3f, recall %.3f: want at least %v", name, precision, recall, least)
		}
	}
}

func contents(items []item) (all []string) {
	for _, it := range items {
		all = append(all, it.content)
	}
	return all
}
