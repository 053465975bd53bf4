package text

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/growthtest"
)

func TestLexemes_NormalisesWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"  \t\n", ""},
		{"!?…—😀", ""},
		{"Caroline's 2 dogs like running", "carolin 2 dog like run"},
		{"Caroline’s CAROLINE carolines", "carolin carolin carolin"},
		{"I don't think we'll go; they’ve gone", "not think go gone"},
		{"no, I cannot; I do not", "not not not"},
		{"I'm at O'Brien's, o'clock", "o brien o clock"},
		{"the of and is", ""},
		{"GPT-4o costs $3.50", "gpt 4 o cost 3 50"},
		{"running runs ran", "run run ran"},
		{"Ｆｕｌｌ ｗｉｄｔｈ １２", "full width 12"},
		{"我在上海做后端", "我在 在上 上海 海做 做后 后端"},
		{"爱", "爱"},
		{"我爱Go语言，真的", "我爱 go 语言 真的"},
		{"3月5日", "3 月 5 日"},
		{"コーヒー", "コー ーヒ ヒー"},
		{"서울에 살아요", "서울 울에 살아 아요"},
		{"Привет МИР", "привет мир"},
		{"café cafe\u0301", "cafe cafe"},
		{"naïve façade", "naiv facad"},
		{"Straße Strasse Müller Mueller", "strass strass mueller mueller"},
		{"Łódź smørbrød œuvre İstanbul ısı", "lodz smorbrod oeuvr istanbul isi"},
		{"районы Алёне", "раион ален"},
		{"Σωκράτης ΣΩΚΡΆΤΗΣ", "σωκρατησ σωκρατησ"},
		{"แพ้ถั่ว", "แพ พ้ ้ถ ถั ั่ ่ว"},
		{"בחיפה חיפה", "בח חי יפ פה חי יפ פה"},
		{"שָׁלוֹם של", "של לו ומ של"},
		{"القهوة قَهوه", "ال لق قه هو وه قه هو وه"},
		{"٤٥٢١ ১২ १२३", "4521 12 123"},
		{"C++ C# F#, C, ASP.NET .NET8 a#b", "c++ c# f# c asp .net net 8 b"},
		{"C++17 a++b issue#5", "c++ 17 b issu 5"},
		{"a\xffb", "b"},
		{"'quoted' rock 'n' roll", "quot rock n roll"},
	} {
		if got := Join(Lexemes(test.in)); got != test.want {
			t.Errorf("Lexemes(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestSplit_InvertsJoin(t *testing.T) {
	t.Parallel()
	for _, lexemes := range [][]string{nil, {"a"}, {"a", "我在", "a"}} {
		if got := Split(Join(lexemes)); !slices.Equal(got, lexemes) {
			t.Errorf("Split(Join(%q)) = %q", lexemes, got)
		}
	}
}

func TestIsChinese_ComparesHanWithLatinWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "hello": false, "12345": false,
		"我在上海工作":                         true,
		"我用 Golang 写后端":                  true,
		"My Chinese name is 王小明":         false,
		"I can't say 你好":                 false,
		"你好":                             true,
		"東京でラーメンをたべました":                  false,
		"今天用 Kubernetes 部署 PostgreSQL 了": true,
	} {
		if got := IsChinese(text); got != want {
			t.Errorf("IsChinese(%q) = %v", text, got)
		}
	}
}

func TestCountTokens_CountsO200k(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "hello world": 2, "hello world, hello": 4} {
		if got := CountTokens(text); got != want {
			t.Errorf("CountTokens(%q) = %d, want %d", text, got, want)
		}
	}
	if got := CountTokens("我在上海做后端工程师"); got < 4 || got > 10 {
		t.Errorf("a Chinese sentence of 10 characters has %d tokens", got)
	}
}

func TestCountTokens_TakesLinearTime(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a", " ", "\n", "我", "hello world ", "1", "\xff", "!"} {
		growthtest.Check(t, "", unit, func(text string) { CountTokens(text) })
		huge := strings.Repeat(unit, (1<<20)/len(unit))
		if n := CountTokens(huge); n <= 0 || n > len(huge) {
			t.Errorf("1 MiB of %q have %d tokens", unit, n)
		}
	}
}

func FuzzLexemes(f *testing.F) {
	for _, seed := range []string{
		"", "I'm", "我爱Go", "'''", "e\u0301\u0301", "İI", "\xff\xfe", "ﷺ", "ゔ", "\u0301a", "a'\u0301", "ǅ", "ing", "y",
	} {
		f.Add("", seed)
		f.Add("a", seed)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		s := head + unit
		lexemes := Lexemes(s)
		for _, lexeme := range lexemes {
			if lexeme == "" || !utf8.ValidString(lexeme) || strings.ContainsFunc(lexeme, unicode.IsSpace) {
				t.Fatalf("Lexemes(%q) holds %q", s, lexeme)
			}
		}
		if !slices.Equal(Split(Join(lexemes)), lexemes) || !slices.Equal(Lexemes(s), lexemes) {
			t.Fatalf("Lexemes(%q) is not stable: %q", s, lexemes)
		}
		// NFKC makes at most 18 characters of one, and each begins at most one lexeme.
		if most := 18 * utf8.RuneCountInString(s); len(lexemes) > most {
			t.Fatalf("%q has %d lexemes, of at most %d", s, len(lexemes), most)
		}
		IsChinese(s)
		growthtest.Check(t, head, unit, func(text string) { Lexemes(text) })
	})
}

func FuzzSentences(f *testing.F) {
	for _, seed := range []string{"", "One. Two!", "1. ", "3.5 ", "他说：“走。”", "\n", ". ", "\xff."} {
		f.Add("", seed)
		f.Add("1", seed)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		s := head + unit
		if joined := strings.Join(Sentences(s), ""); joined != s {
			t.Fatalf("%q became %q", s, joined)
		}
		growthtest.Check(t, head, unit, func(text string) { Sentences(text) })
	})
}

func FuzzTokens(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "\n/", "\n ", " \n", "\xff\n", "'s", "12345", "\t"} {
		f.Add("", seed)
		f.Add("\n", seed)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		s := head + unit
		if joined := strings.Join(slices.Collect(Pieces(s)), ""); joined != s {
			t.Fatalf("%q became %q", s, joined)
		}
		if n := Tokens(O200k, s); n > len(s) {
			t.Fatalf("%q has %d tokens", s, n)
		}
		growthtest.Check(t, head, unit, func(text string) { Tokens(O200k, text) })
	})
}

func TestStripControls_KeepsLinesAndScripts(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"a\x00b\x1bc\u0085d":             "abcd",
		"a\nb\tc\r\n":                    "a\nb\tc\r\n",
		"\u202eevil\u202c \u2066x\u2069": "evil x",
		"می\u200cخواهم 👩\u200d🚀 你\u200e": "می\u200cخواهم 👩\u200d🚀 你\u200e",
	} {
		if got := StripControls(s); got != want {
			t.Errorf("%q: %q", s, got)
		}
	}
}
