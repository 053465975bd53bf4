package grounding

import (
	_ "embed"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/facts.txt
var facts string

//go:embed testdata/facts_held.txt
var heldFacts string

// Facts of turns with wishes, plans and conditions; the invented ones make facts of these.
var (
	//go:embed testdata/facts_wishes.txt
	wishFacts string
	//go:embed testdata/facts_wishes_fresh.txt
	freshWishFacts string
)

// Facts of turns in other languages than English and Chinese.
var (
	//go:embed testdata/facts_languages.txt
	languageFacts string
	//go:embed testdata/facts_languages_held.txt
	heldLanguageFacts string
)

// mostForeign is the share of invented facts in other languages that may be taken, in percent: one of 18. A small
// number that was said in words is not known.
const mostForeign = 6

// mostWishes is the share of wishes, plans and conditions that may be taken for facts, in percent. A wish whose
// fact has another verb is not known.
const mostWishes = 30

// said is when the turns of facts.txt are said, a Wednesday.
var said = time.Date(2031, 5, 7, 20, 0, 0, 0, time.UTC)

// talkOf reads a block of facts.txt.
func talkOf(block string) (talk *Talk, honest, invented []string) {
	var lines []Line
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if fact, ok := strings.CutPrefix(line, "+ "); ok {
			honest = append(honest, fact)
		} else if fact, ok := strings.CutPrefix(line, "- "); ok {
			invented = append(invented, fact)
		} else if by, words, ok := strings.Cut(line, ": "); ok && line[0] != '#' {
			lines = append(lines, Line{Source: Source{words, said}, Assistant: strings.HasSuffix(by, "assistant")})
		}
	}
	return ReadTalk(lines...), honest, invented
}

// At most 5 % of the invented facts and at least 97 % of the honest ones are taken, both of the facts that the rules
// were written with and of the facts that were held back.
func TestUnsaid_TellsWhatIsInventedFromWhatIsHonest(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"facts.txt": facts, "facts_held.txt": heldFacts, "facts_wishes.txt": wishFacts,
		"facts_wishes_fresh.txt": freshWishFacts, "facts_languages.txt": languageFacts,
		"facts_languages_held.txt": heldLanguageFacts,
	} {
		var all, taken struct{ honest, invented int }
		for block := range strings.SplitSeq(file, "\n\n") {
			talk, honest, invented := talkOf(block)
			for _, fact := range honest {
				all.honest++
				if why := talk.Unsaid(fact); why == "" {
					taken.honest++
				} else if !strings.HasSuffix(name, "held.txt") {
					t.Logf("refused: %s: %s", fact, why)
				}
			}
			for _, fact := range invented {
				all.invented++
				if talk.Unsaid(fact) == "" {
					taken.invented++
					if !strings.HasSuffix(name, "held.txt") {
						t.Logf("taken: %s", fact)
					}
				}
			}
		}
		t.Logf("%s: %d of %d honest and %d of %d invented facts are taken", name, taken.honest, all.honest,
			taken.invented, all.invented)
		if 100*taken.honest < 97*all.honest {
			t.Errorf("%s: fewer than 97 %% of the honest facts are taken", name)
		}
		most := 5
		switch {
		case strings.HasPrefix(name, "facts_wishes"):
			most = mostWishes
		case strings.HasPrefix(name, "facts_languages"):
			most = mostForeign
		}
		if 100*taken.invented > most*all.invented {
			t.Errorf("%s: more than %d %% of the invented facts are taken", name, most)
		}
	}
}

// A turn with the lines before it, and three facts of it.
func BenchmarkUnsaid(b *testing.B) {
	var lines []Line
	for block := range strings.SplitSeq(facts, "\n\n") {
		for line := range strings.Lines(block) {
			if by, words, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && line[0] != '#' {
				lines = append(lines, Line{Source: Source{words, said}, Assistant: strings.HasSuffix(by, "assistant")})
			}
		}
	}
	lines = lines[:8]
	for b.Loop() {
		talk := ReadTalk(lines...)
		talk.Unsaid("The user lives in Braga with a grey cat called Miso.")
		talk.Unsaid("The user has been climbing since 2021 and is 34 years old.")
		talk.Unsaid("用户的女儿叫小满，今年上一年级。")
	}
}
