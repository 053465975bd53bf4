package compression

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// model is a chat model that answers by a function.
type model func(ctx context.Context, p llm.Prompt) (string, error)

func (m model) Model() string { return "model" }
func (m model) Answer(ctx context.Context, p llm.Prompt) (string, error) {
	return m(ctx, p)
}

var limits = Limits{Memories: 5, Timeout: time.Minute, Cache: 2}

var (
	swims = []string{"Ada swims on Mondays.", "Ada swims on Wednesdays.", "Ada does not swim on Sundays."}
	games = []string{"艾达每周一去图书馆借书。", "艾达每周五去图书馆还书。", "艾达周日不去图书馆。"}
)

// linesOf returns memories of one day.
func linesOf(contents ...string) []Line {
	lines := make([]Line, len(contents))
	for i, content := range contents {
		lines[i] = Line{Said: begin, Text: content}
	}
	return lines
}

func TestCondenser_ShouldCondense(t *testing.T) {
	t.Parallel()
	c := NewCondenser(nil, limits)
	for _, test := range []struct {
		memories   int
		fits, want bool
	}{{0, true, false}, {0, false, false}, {1, true, false}, {5, true, false}, {6, true, true}, {1, false, true}} {
		if got := c.ShouldCondense(test.memories, test.fits); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

func TestCondenser_CondensesToFit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		contents     []string
		room         Room
		answer, want string
		asks         string // what the prompt says
	}{
		"characters": {swims, Room{40, false}, "```json\n{\"text\":\" Ada swims Mon and\\nWed, not Sun. \"}\n```",
			"Ada swims Mon and Wed, not Sun.", "At most 5 words"},
		"fits to the letter": {swims, Room{10, false}, `{"text":"Ada swims."}`, "Ada swims.", "At most 1 words"},
		"tokens": {swims, Room{12, true}, `{"text":"Ada swims Mon and Wed."}`, "Ada swims Mon and Wed.",
			"At most 7 words"},
		"Chinese": {games, Room{30, false}, `{"text":"艾达周一借书，周五还书，周日不去。"}`, "艾达周一借书，周五还书，周日不去。", "最多 24 个字"},
		"Chinese with a name": {[]string{"艾达喜欢用 PostgreSQL 写程序。", "艾达每天都写程序。"}, Room{30, false},
			`{"text":"艾达每天写 PostgreSQL"}`, "艾达每天写 PostgreSQL", ""},
	} {
		c := NewCondenser(model(func(_ context.Context, p llm.Prompt) (string, error) {
			if !strings.Contains(p.System, "[hippocampus/condense]") || !strings.Contains(p.User, test.asks) ||
				!strings.Contains(p.User, test.contents[1]) {
				t.Errorf("%s: prompt %+v", name, p)
			}
			return test.answer, nil
		}), limits)
		if got, why := c.Condense(t.Context(), linesOf(test.contents...), test.room, ""); got != test.want || why != "" {
			t.Errorf("%s: %q, %q", name, got, why)
		}
	}
}

func TestCondenser_CachesTexts(t *testing.T) {
	t.Parallel()
	asked := 0
	c := NewCondenser(model(func(context.Context, llm.Prompt) (string, error) {
		asked++
		return `{"text":"Ada swims."}`, nil
	}), limits)
	ask := func(contents []string, room Room, language string, want int) {
		t.Helper()
		if _, why := c.Condense(t.Context(), linesOf(contents...), room, language); why != "" || asked != want {
			t.Errorf("asked %d times, want %d: %q", asked, want, why)
		}
	}
	room := Room{40, false}
	ask(swims, room, "", 1)
	ask(swims, room, "", 1)
	ask(swims, Room{40, true}, "", 2)
	ask(swims, room, "", 2)
	ask(swims[:2], room, "", 3) // the limit is two: the least recently used text is evicted
	ask(swims, Room{40, true}, "", 4)
	ask(swims[:2], room, "", 4)
	ask(swims, room, "en", 5)
	ask(swims, Room{39, false}, "", 6)
	// A room that is larger than the memories does not change the result: a growing conversation leaves another room in
	// the prompt each time.
	ask(swims, Room{9000, false}, "", 7)
	ask(swims, Room{8000, false}, "", 7)
	ask(swims, Room{9000, true}, "", 8)
	ask(swims, Room{8000, true}, "", 8)
	c = NewCondenser(c.chat, Limits{Memories: 5, Timeout: time.Minute})
	ask(swims, room, "", 9)
	ask(swims, room, "", 10)
}

func TestCondenser_StatesWhyItFailed(t *testing.T) {
	t.Parallel()
	hangs := model(func(ctx context.Context, _ llm.Prompt) (string, error) {
		<-ctx.Done()
		return "", memory.Errorf(memory.KindUnavailable, "http://10.0.0.7: %w", ctx.Err())
	})
	for name, test := range map[string]struct {
		chat     llm.Chat
		contents []string
		room     Room
		want     string
	}{
		"no model":  {nil, swims, Room{40, false}, "DEEPSEEK_API_KEY"},
		"no room":   {hangs, swims, Room{0, false}, "too small"},
		"too much":  {hangs, []string{strings.Repeat("a", 24001)}, Room{40, false}, "too long"},
		"no answer": {hangs, swims, Room{40, false}, "longer than 10ms"},
		"bad answer": {model(func(context.Context, llm.Prompt) (string, error) {
			return "hm", nil
		}), swims, Room{40, false}, "no JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := NewCondenser(test.chat, Limits{Memories: 5, Timeout: 10 * time.Millisecond, Cache: 1})
			if got, why := c.Condense(t.Context(), linesOf(test.contents...), test.room, ""); got != "" ||
				!strings.Contains(why, test.want) || strings.Contains(why, "10.0.0.7") {
				t.Errorf("%q, %q", got, why)
			}
		})
	}
}

// malformedTexts are answers about swims for a room of 60 characters, each with a different defect.
func malformedTexts() map[string]string {
	const good = `{"text":"Ada swims."}`
	text := func(s string) string { return fmt.Sprintf(`{"text":%q}`, s) }
	return map[string]string{
		"empty":               "",
		"blank answer":        " \n",
		"prose":               "Ada swims.",
		"html":                "<html><body>502 Bad Gateway</body></html>",
		"null":                "null",
		"a string":            `"Ada swims."`,
		"a number":            "7",
		"truncated":           good[:len(good)-2],
		"truncated in a word": good[:12],
		"two objects":         good + `{"text":"a"}`,
		"single quotes":       `{'text':'Ada swims.'}`,
		"lone surrogate":      `{"text":"\ud83d"}`,
		"python literals":     `{"text":None}`,
		"duplicate fields":    `{"text":"Ada swims.","text":"Ada runs."}`,

		"no field":      `{}`,
		"another field": `{"summary":"Ada swims."}`,
		"nested":        `{"text":{"text":"Ada swims."}}`,
		"text null":     `{"text":null}`,
		"text a list":   `{"text":["Ada swims."]}`,
		"text a number": `{"text":7}`,
		"text true":     `{"text":true}`,

		"text empty":                text(""),
		"text blank":                text(" \n\t "),
		"text over the room":        text(strings.Repeat("a", 61)),
		"text far over the room":    text(strings.Repeat("a", 100_000)),
		"over the room by runes":    text(strings.Repeat("🏊", 61)),
		"the prompt's words":        text("Every name, number, date, negation and reason."),
		"the prompt's sample":       text("Rosalind plays the oboe in the city orchestra"),
		"the other prompt's sample": text("苏眠在市交响乐团吹双簧管"),
		"another language":          text("艾达周一和周三游泳。"),
		"an invented name":          text("Ada swims with Bea."),
		"an invented day":           text("Ada swims on Saturdays."),
	}
}

// An answer of a sloppy form is read.
func TestCondenser_ReadsSloppyAnswers(t *testing.T) {
	t.Parallel()
	const good, want = `{"text":"Ada swims."}`, "Ada swims."
	for name, answer := range map[string]string{
		"a byte order mark":     "\ufeff" + good,
		"a fence and prose":     "Sure!\n```json\n" + good + "\n```\nBye.",
		"thoughts":              "<think>{hm}</think>" + good,
		"a trailing comma":      `{"text":"Ada swims.",}`,
		"comments":              `{"text":"Ada swims." /* short */}`,
		"unknown fields":        `{"text":"Ada swims.","characters":10}`,
		"names in another case": `{"Text":"Ada swims."}`,
		"a list of one":         "[" + good + "]",
		"control characters":    `{"text":"Ada \u202eswims.\u0007"}`,
	} {
		c := NewCondenser(model(func(context.Context, llm.Prompt) (string, error) { return answer, nil }), limits)
		if got, why := c.Condense(t.Context(), linesOf(swims...), Room{60, false}, ""); got != want {
			t.Errorf("%s: %q, %q", name, got, why)
		}
	}
}

func TestCondenser_RefusesMalformedAnswers(t *testing.T) {
	t.Parallel()
	answers := malformedTexts()
	own := len(answers)
	for _, bad := range llmtest.Malformed() {
		answers["scorer: "+bad.Name] = bad.Answer
	}
	for name, answer := range answers {
		c := NewCondenser(model(func(context.Context, llm.Prompt) (string, error) { return answer, nil }), limits)
		got, why := c.Condense(t.Context(), linesOf(swims...), Room{60, false}, "")
		if got != "" || !strings.Contains(why, "refused") {
			t.Errorf("%s: %q, %q", name, got, why)
		}
		if n := c.kept.Len(); n != 0 {
			t.Errorf("%s: %d refused texts are kept", name, n)
		}
	}
	t.Logf("%d malformed answers refused, %d of them made for condensing", len(answers), own)
	for name, c := range map[string]struct {
		contents []string
		answer   string
	}{
		"in English of Chinese memories": {games, `{"text":"Ada borrows books on Mondays."}`},
		"longer than the memories":       {[]string{"Ada swims."}, `{"text":"Ada swims a lot."}`},
	} {
		condenser := NewCondenser(model(func(context.Context, llm.Prompt) (string, error) { return c.answer, nil }), limits)
		_, why := condenser.Condense(t.Context(), linesOf(c.contents...), Room{60, false}, "")
		if !strings.Contains(why, "refused") {
			t.Errorf("%s: %q", name, why)
		}
	}
}
