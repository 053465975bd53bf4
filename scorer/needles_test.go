package scorer

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNeedles_OfExpressions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		expression string
		want       []string
	}{
		{`live`, []string{"LIVE"}},
		{`\bi(?:'m| am) from\b`, []string{"I'M FROM", "I AM FROM"}},
		{`i(?: \w+)? (?:live|lived) in`, []string{" LIVE IN", " LIVED IN"}},
		{`(?:day|x*)`, nil},
		{`.*`, nil},
		{`(?:ab)?c+`, []string{"C"}},
		{`[吗么]$`, []string{"吗", "么"}},
		{`k`, []string{"K"}}, // and the Kelvin sign, which folds to it
		{`\d:[ap]m`, strings.Fields("0:AM 1:AM 2:AM 3:AM 4:AM 5:AM 6:AM 7:AM 8:AM 9:AM " +
			"0:PM 1:PM 2:PM 3:PM 4:PM 5:PM 6:PM 7:PM 8:PM 9:PM")},
		{`\p{Han} is`, []string{" IS"}},
	} {
		got := newExpression(row.expression).needles
		slices.Sort(got)
		slices.Sort(row.want)
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: needles %q, want %q", row.expression, got, row.want)
		}
	}
}

// Needles change no answer: an expression is in a sentence where it matches.
func TestNeedles_MissNoMatch(t *testing.T) {
	t.Parallel()
	var all []expression
	var words []string
	for _, l := range []*language{english, chinese} {
		all = append(append(all, l.refused...), l.questioned, l.commanded, l.secretive)
		for _, p := range l.patterns {
			if all = append(all, p.matches); p.unless != "" {
				all = append(all, p.vetoes)
			}
		}
	}
	for _, e := range all {
		words = append(words, e.needles...)
	}
	for _, row := range labelled {
		words = append(append(words, row.says), strings.Fields(row.says)...)
	}
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		s := newSentence(text)
		for _, e := range all {
			if got, want := e.in(s), e.MatchString(text); got != want {
				t.Errorf("%q: %v, but %s matches: %v", text, got, e, want)
			}
		}
	}
	for _, row := range labelled {
		check(t, row.says)
		check(t, strings.ToUpper(row.says))
	}
	check(t, "I liKe it every weeK, my ſon iſ in berlin") // a Kelvin sign and long s
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(words), rapid.StringN(0, 3, -1)), 1, 6).Draw(t, "words")
		text := strings.Join(parts, rapid.SampledFrom([]string{" ", "", ", "}).Draw(t, "between"))
		check(t, rapid.SampledFrom([]func(string) string{strings.ToLower, strings.ToUpper, strings.ToTitle}).Draw(t,
			"case")(text))
	})
}
