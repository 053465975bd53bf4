package attribute

import (
	"os"
	"strings"
	"testing"
)

// pair is a line of the pairs that the judge is tested with, which were written before this package.
type pair struct{ language, half, kind, attribute, older, newer string }

func pairs(t *testing.T) (list []pair) {
	t.Helper()
	file, err := os.ReadFile("../judge/testdata/pairs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		list = append(list, pair{language: f[0], half: f[1], kind: f[2], attribute: f[3], older: f[4], newer: f[5]})
	}
	return list
}

// half is the half of the pairs that counts: the rules were written with the other half.
const half = "test"

func TestContradicted_FindsWhatIsSaidLater(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "zh"} {
		found, all := 0, 0
		for _, p := range pairs(t) {
			if p.language != language || p.half != half {
				continue
			}
			_, contradicted := Contradicted(Of(p.older), Of(p.newer))
			switch {
			case p.kind == "related" && contradicted:
				t.Errorf("%s contradicts %s: %v, %v", p.newer, p.older, Of(p.older), Of(p.newer))
			case p.kind == "contradicts":
				all++
				if contradicted {
					found++
				} else {
					t.Logf("not found: %s %v | %s %v", p.older, Of(p.older), p.newer, Of(p.newer))
				}
			}
		}
		t.Logf("%s: %d of %d", language, found, all)
		if float64(found) < 0.7*float64(all) {
			t.Errorf("%s: %d of %d contradictions found", language, found, all)
		}
	}
}
