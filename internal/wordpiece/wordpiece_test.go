package wordpiece

import (
	"slices"
	"strings"
	"testing"
)

func TestVocabulary_SplitsIntoTheLongestPieces(t *testing.T) {
	t.Parallel()
	names := []string{"[UNK]", "zoe", "kayak", "##ing", "我", "go", ".", "##o", "a"}
	v := New(names)
	for text, want := range map[string]string{
		"":                       "",
		"Zoë kayaking.":          "zoe kayak ##ing .",
		"我go 我":                  "我 go 我",
		"kayaks":                 "[UNK]", // no piece for the s
		strings.Repeat("a", 101): "[UNK]",
		"Go\u0000o":              "go ##o",
	} {
		var s Splitter
		var pieces []string
		for s.Reset(text); s.Scan(); {
			for _, number := range v.AppendWord(nil, &s) {
				pieces = append(pieces, names[number])
			}
		}
		if got := strings.Join(pieces, " "); got != want {
			t.Errorf("pieces of %.20q = %q, want %q", text, got, want)
		}
	}
}

func TestVocabulary_NumbersInitialPieces(t *testing.T) {
	t.Parallel()
	v := New([]string{"[UNK]", "##x", "[CLS]"})
	number, ok := v.Number("[CLS]")
	_, unknown := v.Number("x")
	if got := []any{number, ok, unknown}; !slices.Equal(got, []any{int32(2), true, false}) {
		t.Errorf("[CLS] and x are %v", got)
	}
}
