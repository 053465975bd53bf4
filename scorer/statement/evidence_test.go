package statement

import (
	"strings"
	"testing"
)

func TestRead_NeedsEvidence(t *testing.T) {
	t.Parallel()
	for _, sentence := range []string{
		"", "...", "안녕하세요", "Я живу в Москве.", "Mi chiamo Giulia e ho due figli.", "Best", "[image]", "git status", "周一",
	} {
		if Read(sentence).Known {
			t.Errorf("%q counts as known", sentence)
		}
	}
	const rarely = 5 // of about 1,400 statements of a language
	for _, language := range []string{"en", "zh"} {
		var without []string
		for _, line := range lines(t, "training/"+language+".tsv") {
			e, err := ParseExample(line)
			if err != nil {
				t.Fatal(err)
			}
			if e.Label == Fact && !Read(e.Sentence).Known {
				without = append(without, e.Sentence)
			}
		}
		t.Logf("%s: without evidence: %s", language, strings.Join(without, " "))
		if len(without) > rarely {
			t.Errorf("%s: %d statements are without evidence", language, len(without))
		}
	}
}
