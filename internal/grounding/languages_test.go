package grounding

import "testing"

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

// An invented name at the beginning of an English fact is found, also if another language has the word.
func TestUnsaid_FindsNamesThatAreWordsElsewhere(t *testing.T) {
	t.Parallel()
	talk := ReadTalk(Line{Source: Source{Text: "I like jazz, and I live near the station."}})
	for fact, want := range map[string]string{
		"Mia likes jazz.": `"Mia"`, "Ella likes jazz.": `"Ella"`, "The user likes jazz.": "",
	} {
		if why := talk.Unsaid(fact); why != want {
			t.Errorf("%s: %q, want %q", fact, why, want)
		}
	}
}
