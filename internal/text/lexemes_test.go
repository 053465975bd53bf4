package text

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest" // sets its flags
)

func TestLexemesOfASCII_EqualsLexemesOf(t *testing.T) {
	t.Parallel()
	char := rapid.OneOf(rapid.RuneFrom([]rune("aeinostTW019' '-.")), rapid.RuneFrom([]rune("\x00\t\n\r_$@`~\x7fZz")))
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(char, 0, 40).Draw(t, "characters"))
		if got, want := Lexemes(s), lexemesOf(s); !slices.Equal(got, want) {
			t.Errorf("Lexemes(%q) = %q, want %q", s, got, want)
		}
	})
}

func BenchmarkLexemes(b *testing.B) {
	const s = "Caroline's two dogs like running along the river before breakfast; she doesn't mind the 6 degrees at all"
	for b.Loop() {
		Lexemes(s)
	}
}
