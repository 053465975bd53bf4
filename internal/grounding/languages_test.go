package grounding

import (
	_ "embed"
	"strings"
	"testing"
)

var (
	//go:embed testdata/facts_languages.txt
	languageFacts string
	//go:embed testdata/facts_languages_held.txt
	heldLanguageFacts string
)

// All honest facts in other languages are taken, and at most one of 18 invented ones, both of the half that was in view
// and of the half that was held back: a small number in words is not known.
func TestUnsaid_InOtherLanguages(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"in view": languageFacts, "held back": heldLanguageFacts} {
		var all, taken struct{ honest, invented int }
		for block := range strings.SplitSeq(file, "\n\n") {
			talk, honest, invented := talkOf(block)
			for _, fact := range honest {
				all.honest++
				if why := talk.Unsaid(fact); why == "" {
					taken.honest++
				} else {
					t.Logf("%s, refused: %s: %s", name, fact, why)
				}
			}
			for _, fact := range invented {
				all.invented++
				if talk.Unsaid(fact) == "" {
					taken.invented++
					t.Logf("%s, taken: %s", name, fact)
				}
			}
		}
		t.Logf("%s: %d of %d honest and %d of %d invented facts are taken", name, taken.honest, all.honest,
			taken.invented, all.invented)
		if all.honest < 18 || taken.honest < all.honest {
			t.Errorf("%s: %d of %d honest facts are taken", name, taken.honest, all.honest)
		}
		if all.invented < 18 || taken.invented > 1 {
			t.Errorf("%s: %d of %d invented facts are taken", name, taken.invented, all.invented)
		}
	}
}

// Texts that a model writes about German sources may have nouns that the sources lack, and no names.
func TestWhy_InGerman(t *testing.T) {
	t.Parallel()
	has := Read(Texts("Der Nutzer ist nach Husum gezogen.", "Der Nutzer sucht dort eine Stelle als Schreiner.")...)
	const matthias = `adds "Matthias", which its sources do not have`
	for statement, want := range map[string]string{
		"Der Nutzer sucht nach dem Umzug nach Husum eine Arbeit als Schreiner.": "",
		"Der Nutzer sucht mit Matthias eine Stelle.":                            matthias,
		"Matthias sucht eine Stelle in Husum.":                                  matthias,
	} {
		if why := has.Why(statement); why != want {
			t.Errorf("%s: %q, want %q", statement, why, want)
		}
	}
}
