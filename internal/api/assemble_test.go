package api

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hippocampus/internal/text"
)

func TestAssemble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		contents []string
		language string
		room     int
		want     string
		kept     int
	}{
		"english":                           {[]string{"Likes tea.", "Works in Lisbon."}, "", 500, "[Long-term memory]\n- Likes tea.\n- Works in Lisbon.", 2},
		"chinese":                           {[]string{"喜欢喝茶。"}, "", 500, "【长期记忆】\n- 喜欢喝茶。", 1},
		"asked for in the other language":   {[]string{"Likes tea."}, "zh", 500, "【长期记忆】\n- Likes tea.", 1},
		"asked for in English":              {[]string{"喜欢喝茶。"}, "en", 500, "[Long-term memory]\n- 喜欢喝茶。", 1},
		"fits to the character":             {[]string{"Likes tea.", "x"}, "", 18 + 13, "[Long-term memory]\n- Likes tea.", 1},
		"one character too few":             {[]string{"Likes tea."}, "", 18 + 12, "", 0},
		"dropped from the end, not skipped": {[]string{"abc", strings.Repeat("x", 400), "d"}, "", 100, "[Long-term memory]\n- abc", 1},
		"nothing to say":                    {nil, "", 500, "", 0},
		"a memory is one line":              {[]string{"a\n- b\r\nc\u2028d"}, "", 500, "[Long-term memory]\n- a - b c d", 1},
	} {
		got, kept := assemble(c.contents, c.language, c.room, utf8.RuneCountInString)
		if got != c.want || kept != c.kept {
			t.Errorf("%s: %q with %d, want %q with %d", name, got, kept, c.want, c.kept)
		}
	}
}

// Whatever the memories, the text is within its room and holds the best whole.
func TestAssembleKeepsWithinItsRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		contents := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"喜欢喝茶。", "Works at \"A/B\".", "🙂🙂"})), 0, 8).Draw(t, "contents")
		room := rapid.IntRange(1, 120).Draw(t, "room")
		measure := rapid.SampledFrom([]func(string) int{utf8.RuneCountInString, text.CountTokens}).Draw(t, "measure")
		got, kept := assemble(contents, "", room, measure)
		if measure(got) > room {
			t.Fatalf("%d of %d: %q", measure(got), room, got)
		}
		if lines := strings.Count(got, "\n"); lines != kept {
			t.Fatalf("%d lines for %d memories: %q", lines, kept, got)
		}
		for _, content := range contents[:kept] {
			if !strings.Contains(got, oneLine(content)) {
				t.Fatalf("%q is not whole in %q", content, got)
			}
		}
	})
}
