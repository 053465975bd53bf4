package text

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest" // sets its flags
)

func TestLexemesOfASCII_EqualsLexemesOf(t *testing.T) {
	t.Parallel()
	char := rapid.OneOf(rapid.RuneFrom([]rune("aeinostTW019' '-.+#")), rapid.RuneFrom([]rune("\x00\t\n\r_$@`~\x7fZz")))
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(char, 0, 40).Draw(t, "characters"))
		if got, want := Lexemes(s), lexemesOf(s); !slices.Equal(got, want) {
			t.Errorf("Lexemes(%q) = %q, want %q", s, got, want)
		}
	})
}

func BenchmarkLexemes(b *testing.B) {
	for language, s := range map[string]string{
		"English": "Caroline's two dogs like running along the river before breakfast; she doesn't mind the 6 degrees at all",
		"Chinese": "小王的两条狗喜欢在早饭前沿着河边跑步，就算只有六度它也一点都不在意，明天我们还要带它们去杭州玩三天。",
		"German":  "Jürgens zwei Hunde laufen vor dem Frühstück gern am Fluss entlang; die 6 Grad stören sie überhaupt nicht",
	} {
		b.Run(language, func(b *testing.B) {
			for b.Loop() {
				Lexemes(s)
			}
		})
	}
}
