package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSentences_KeepsMarksAndSpaces(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]string{
		"":                                    nil,
		"One.":                                {"One."},
		"One. Two!  Three?":                   {"One. ", "Two!  ", "Three?"},
		"It costs 3.5 euros. Yes.":            {"It costs 3.5 euros. ", "Yes."},
		"a list:\n- one\n- two":               {"a list:\n", "- one\n", "- two"},
		"1. one\n12. two. three":              {"1. one\n", "12. two. ", "three"},
		"Tell Mrs. Petrakis, or Dr. Wu. Bye.": {"Tell Mrs. Petrakis, or Dr. Wu. ", "Bye."},
		"It is No. 5. No. You are wrong.":     {"It is No. 5. ", "No. ", "You are wrong."},
		"Obst, z.B. Äpfel. Ja.":               {"Obst, z.B. Äpfel. ", "Ja."},
		"我搬家了。你呢？好的":                          {"我搬家了。", "你呢？", "好的"},
		"她说：“我走了。”然后走了。":                      {"她说：“我走了。”", "然后走了。"},
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

func TestDivide_CutsLongTextsAtSentences(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text  string
		limit int
		want  []string
	}{
		"short":         {"One. Two.", 20, []string{"One. Two."}},
		"sentences":     {"One is here. Two is here. Three.", 26, []string{"One is here.", "Two is here. Three."}},
		"Chinese":       {"我住在里斯本。我养蜂。我喜欢茶。", 12, []string{"我住在里斯本。", "我养蜂。我喜欢茶。"}},
		"long sentence": {strings.Repeat("x", 25), 10, []string{strings.Repeat("x", 9), strings.Repeat("x", 9), "xxxxxxx"}},
		"short rest":    {"I am here. I am here. I am here. Bye.", 33, []string{"I am here. I am here.", "I am here. Bye."}},
		"blank":         {" \n ", 10, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Divide(test.text, test.limit)
			if !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			for _, p := range got {
				if utf8.RuneCountInString(p) > test.limit {
					t.Errorf("%q is longer than %d", p, test.limit)
				}
			}
		})
	}
}
