package text

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTokens_DependsOnEncoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s             string
		o200k, cl100k int
	}{
		{"", 0, 0}, {"hello world", 2, 2}, {"tiktoken is great!", 6, 6}, {"antidisestablishmentarianism", 6, 6},
	} {
		if a, b := Tokens(O200k, c.s), Tokens(CL100k, c.s); a != c.o200k || b != c.cl100k {
			t.Errorf("%q has %d and %d tokens, want %d and %d", c.s, a, b, c.o200k, c.cl100k)
		}
	}
	// The newer encoding knows more Chinese words.
	if a, b := Tokens(O200k, "我在上海做后端工程师"), Tokens(CL100k, "我在上海做后端工程师"); a >= b {
		t.Errorf("o200k_base has %d, cl100k_base %d", a, b)
	}
	for _, e := range []Encoding{O200k, CL100k} {
		if !e.Known() {
			t.Errorf("%s is not known", e)
		}
	}
	if Encoding("").Known() || Encoding("p50k").Known() {
		t.Error("an encoding that does not exist is known")
	}
}

func TestPieces_SplitsAfterLineBreaks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    string
		want []string
	}{
		{"", nil},
		{"a", []string{"a"}},
		{"a\nb\n", []string{"a\n", "b\n"}},
		{"a\n\nb", []string{"a\n\n", "b"}},
		{"a\n b\n\u3000c\n\rd", []string{"a\n", " b\n", "\u3000c\n\r", "d"}},
		{"a.\n/b\n- c", []string{"a.\n/b\n", "- c"}},
		{"\n你", []string{"\n", "你"}},
	} {
		if got := slices.Collect(Pieces(c.s)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.s, got, c.want)
		}
	}
}

func TestPieces_KeepTokenCount(t *testing.T) {
	t.Parallel()
	part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"\n", "\n\n", "\r\n", "\n ", " \n", "/", ".\n", ".\n/", "- ", "  ", "\t", "\u0085", "\u00a0", "\u2028",
		"\u200b", "\ufeff", "'s", "\n'S", "\u0301", "我在", "123", "A", "a\xff\n\xfe",
	}))
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
		for _, e := range []Encoding{O200k, CL100k} {
			want, err := encodings[e]().Count(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := Tokens(e, s); got != want {
				t.Fatalf("%s: %q has %d tokens, %d by its pieces", e, s, want, got)
			}
		}
		if strings.Join(slices.Collect(Pieces(s)), "") != s {
			t.Fatalf("the pieces of %q do not add up to it", s)
		}
	})
}
