package text

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSentences_KeepsMarksAndSpaces(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]string{
		"":                         nil,
		"One.":                     {"One."},
		"One. Two!  Three?":        {"One. ", "Two!  ", "Three?"},
		"It costs 3.5 euros. Yes.": {"It costs 3.5 euros. ", "Yes."},
		"a list:\n- one\n- two":    {"a list:\n", "- one\n", "- two"},
		"1. one\n12. two. three":   {"1. one\n", "12. two. ", "three"},
		"我搬家了。你呢？好的":               {"我搬家了。", "你呢？", "好的"},
		"她说：“我走了。”然后走了。": {"她说：“我走了。”", "然后走了。"},
	} {
		if got := Sentences(s); !slices.Equal(got, want) {
			t.Errorf("%q has the sentences %q, want %q", s, got, want)
		}
	}
}

func TestSentences_JoinToTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if got := strings.Join(Sentences(s), ""); got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
