package attribute

import (
	"os"
	"strings"
	"testing"
)

// changes are the pairs of testdata/changes.tsv, with which the rules were made: what was said first, and what was said
// later. In a pair of kind "changes" the later statement outdates the earlier one; in a pair of kind "trap" it must
// not.
func changes(t *testing.T) (list []pair) {
	t.Helper()
	file, err := os.ReadFile("testdata/changes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		list = append(list, pair{language: f[0], kind: f[1], older: f[2], newer: f[3]})
	}
	return list
}

// outdates reports whether a later statement outdates an earlier one by one of the rules.
func outdates(later, earlier string) bool {
	_, contradicted := Contradicted(Of(earlier), Of(later))
	_, ends := ChangeOf(later).Ends(earlier, Of(earlier))
	return contradicted || ends
}

func TestChange_OutdatesWhatItEnds(t *testing.T) {
	t.Parallel()
	const share = 0.9 // of the pairs of a language that are found
	found, all := map[string]float64{}, map[string]float64{}
	for _, p := range changes(t) {
		outdated := outdates(p.newer, p.older)
		switch {
		case p.kind == "trap" && outdated:
			t.Errorf("%q outdates %q: %+v", p.newer, p.older, ChangeOf(p.newer))
		case p.kind == "changes":
			all[p.language]++
			if outdated {
				found[p.language]++
			} else {
				t.Logf("%q does not outdate %q: %+v", p.newer, p.older, ChangeOf(p.newer))
			}
			if outdates(p.older, p.newer) && ChangeOf(p.older).IsZero() && len(Of(p.older)) == 0 {
				t.Errorf("%q outdates %q, although it says nothing against it", p.older, p.newer)
			}
		}
	}
	for language, n := range all {
		t.Logf("%s: %.0f of %.0f", language, found[language], n)
		if n < 40 || found[language] < share*n {
			t.Errorf("%s: %.0f of %.0f changes found", language, found[language], n)
		}
	}
}
