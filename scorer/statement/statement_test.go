package statement

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"hippocampus/internal/growthtest"
	"hippocampus/internal/memory"
)

// The held-out sentences are those of scorer.TestRules_SeparateStatementsFromOtherSentences.
func TestTraining_HasNoHeldOutSentence(t *testing.T) {
	t.Parallel()
	plain := func(line string) string { // the sentence without its marks
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, line[strings.LastIndex(line, "\t")+1:])
	}
	for _, language := range []string{"en", "zh"} {
		trained := map[string]bool{}
		for _, line := range lines(t, "training/"+language+".tsv") {
			trained[plain(line)] = true
		}
		for _, line := range lines(t, "../testdata/statements_"+language+".tsv") {
			if trained[plain(line)] {
				t.Errorf("%q is held out and in training/%s.tsv", line, language)
			}
		}
	}
}

// lines returns the lines of a file.
func lines(t *testing.T, name string) []string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

// go generate writes the weights. A change of the features, the words or the training needs another run.
func TestWeights_AreThoseOfTheTraining(t *testing.T) {
	t.Parallel()
	examples := map[string][]Example{}
	for _, language := range []string{"en", "zh"} {
		for _, line := range lines(t, "training/"+language+".tsv") {
			e, err := ParseExample(line)
			if err != nil {
				t.Fatal(err)
			}
			examples[e.Language()] = append(examples[e.Language()], e)
		}
	}
	for language, weights := range map[string]string{"en": englishWeights, "zh": chineseWeights} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if got := string(Train(examples[language]).Encode()); got != weights {
				t.Errorf("weights_%s.tsv is not what training/*.tsv gives: run go generate ./scorer/statement", language)
			}
		})
	}
}

func TestDomain_OfContent(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]memory.Domain{
		"I'm allergic to peanuts.":                       memory.Preferences,
		"The user is allergic to peanuts.":               memory.Preferences,
		"[2023-05-07] Ana: I work as a nurse in Bergen.": memory.Profession,
		"The user works as a backend engineer":           memory.Profession,
		"用户在上海做后端工程师":                                    memory.Profession,
		"My sister Clara is a pilot.":                    memory.Social,
		"Caroline's daughter and her dog":                memory.Social,
		"We're flying to Rome on Friday.":                memory.Tasks,
		"Dentist appointment next week":                  memory.Tasks,
		"我对花生过敏":                                         memory.Preferences,
		"用户不喜欢吃香菜":                                       memory.Preferences,
		"Ada lives in Beijing":                           memory.Lifestyle,
		"The user lives in an apartment":                 memory.Lifestyle,
		"用户住在上海":                                         memory.Lifestyle,
		"":                                               memory.GeneralChat,
	} {
		if got := Domain(content); got != want {
			t.Errorf("Domain(%q) = %q, want %q", content, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "I don't can't.", "我叫Ana，3岁", "'", "a\xff", "-", "I’m"} {
		f.Add("", seed)
		f.Add("I ", seed)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		sentence := head + unit
		r := Read(sentence)
		if !(r.Statement >= 0 && r.Statement <= 1) || r.Domain == memory.GeneralChat ||
			!slices.Contains(memory.Domains, r.Domain) || !slices.Contains(memory.Domains, Domain(sentence)) {
			t.Fatalf("Read(%q) = %+v, Domain %q", sentence, r, Domain(sentence))
		}
		growthtest.Check(t, head, unit, func(text string) { Read(text) })
	})
}

func TestRead_TakesContractionsForTheirWords(t *testing.T) {
	t.Parallel()
	for short, long := range map[string]string{
		"I'm allergic to peanuts.":            "I am allergic to peanuts.",
		"We're moving to Rome in May.":        "We are moving to Rome in May.",
		"I've been living in Rome since May.": "I have been living in Rome since May.",
		"I’ll fly to Rome on Friday.":         "I will fly to Rome on Friday.",
	} {
		a, b := Read(short), Read(long)
		if a.Statement <= 0.5 || b.Statement <= 0.5 || !a.Known || !b.Known || a.Domain != b.Domain {
			t.Errorf("%q: %+v, %q: %+v", short, a, long, b)
		}
	}
}
