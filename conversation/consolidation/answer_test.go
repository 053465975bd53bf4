package consolidation

import (
	"fmt"
	"strings"
	"testing"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// malformedReplays are answers about an English conversation, each with a different defect.
func malformedReplays() map[string]string {
	text := func(s string) string { return fmt.Sprintf(`{"summary":%q}`, s) }
	const good = goodReplay
	return map[string]string{
		"empty": "", "blank": " \n", "prose": "Ada plans a trip.", "html": "<html>502</html>", "null": "null",
		"a string": `"Ada plans a trip."`,
		"a number": "7", "truncated": good[:len(good)-2], "truncated in a word": good[:16],
		"two objects":   good + good,
		"single quotes": `{'summary':'Ada plans a trip.'}`,
		"no field":      `{}`, "another field": `{"text":"Ada plans a trip."}`,
		"twice":          `{"summary":"Ada plans.","summary":"Ada plans a trip."}`,
		"field null":     `{"summary":null}`,
		"field a number": `{"summary":7}`, "field a list": `{"summary":["Ada plans a trip."]}`,
		"field an object": `{"summary":{"text":"Ada"}}`,
		"field true":      `{"summary":true}`, "a list of texts": `["Ada plans a trip."]`,
		"field empty": text(""), "field blank": text(" \n "),
		"lone surrogate": `{"summary":"\ud83d"}`, "invalid UTF-8": "{\"summary\":\"\xff\"}",
		"81 words": text(strings.Repeat("word ", 81)), "801 characters": text(strings.Repeat("a", 801)),
		"Chinese":             text("艾达计划五月去波尔图旅行。"),
		"5,000 characters":    text(strings.Repeat("a", 5000)),
		"the prompt's words":  text("Say what the conversation was about, what was decided or done and how it turned out."),
		"the prompt's sample": text("The user travels to Bergen for an oboe course on 3 May."),
		"fences":              "```json\n" + good + "\n```\n```json\n" + good + "\n```",
	}
}

// malformedReflections are answers about an English conversation, each with a different defect.
func malformedReflections() map[string]string {
	with := func(list, items string) string {
		return strings.Replace(nothing, fmt.Sprintf(`%q:[]`, list), fmt.Sprintf(`%q:%s`, list, items), 1)
	}
	fact := func(s string) string { return with("facts", "["+s+"]") }
	const good = `{"type":"profile","key":"city","value":"Porto","confidence":0.9}`
	many := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	text := func(s string) string { return fmt.Sprintf(`[{"text":%q,"importance":0.5}]`, s) }
	answers := map[string]string{
		"empty": "", "prose": "Nothing lasts.", "html": "<html>502</html>", "null": "null",
		"truncated":   nothing[:len(nothing)-1],
		"two objects": nothing + nothing, "no field": "{}",
		"field twice": strings.Replace(nothing, "{", `{"facts":[],`, 1),
		"facts null":  with("facts", "null"), "facts an object": with("facts", good),
		"facts of strings": with("facts", `["Porto"]`), "a fact null": with("facts", "[null]"),
		"21 facts":                with("facts", many(21, good)),
		"fact without type":       fact(`{"key":"city","value":"Porto","confidence":0.9}`),
		"fact without key":        fact(`{"type":"profile","value":"Porto","confidence":0.9}`),
		"fact without value":      fact(`{"type":"profile","key":"city","confidence":0.9}`),
		"fact of value null":      fact(`{"type":"profile","key":"city","value":null,"confidence":0.9}`),
		"fact of empty value":     fact(`{"type":"profile","key":"city","value":"","confidence":0.9}`),
		"fact of blank value":     fact(`{"type":"profile","key":"city","value":" ","confidence":0.9}`),
		"fact without confidence": fact(`{"type":"profile","key":"city","value":"Porto"}`),
		"confidence above 1":      fact(`{"type":"profile","key":"city","value":"Porto","confidence":1.1}`),
		"confidence below 0":      fact(`{"type":"profile","key":"city","value":"Porto","confidence":-0.1}`),
		"confidence a string":     fact(`{"type":"profile","key":"city","value":"Porto","confidence":"high"}`),
		"key empty":               fact(`{"type":"profile","key":"","value":"Porto","confidence":0.9}`),
		"type blank":              fact(`{"type":" ","key":"city","value":"Porto","confidence":0.9}`),
		"key too long": fact(fmt.Sprintf(`{"type":"profile","key":%q,"value":"Porto","confidence":0.9}`,
			strings.Repeat("k", 129))),
		"value too long": fact(fmt.Sprintf(`{"type":"profile","key":"city","value":%q,"confidence":0.9}`,
			strings.Repeat("v", 5000))), "one good, one bad": with("facts", "["+good+`,{"type":"profile"}]`),
		"insights null": with("insights", "null"), "insight without level": with("insights",
			`[{"text":"The user saves."}]`),
		"level unknown":        with("insights", `[{"text":"The user saves.","level":"huge"}]`),
		"level in capitals":    with("insights", `[{"text":"The user saves.","level":"HIGH"}]`),
		"level a number":       with("insights", `[{"text":"The user saves.","level":1}]`),
		"insight without text": with("insights", `[{"level":"high"}]`),
		"11 insights":          with("insights", many(11, `{"text":"The user saves.","level":"high"}`)),
		"patterns null":        with("patterns", "null"), "skill without importance": with("skills",
			`[{"text":"The user swims."}]`), "importance of 2": with("skills", `[{"text":"The user swims.","importance":2}]`),
		"text empty": with("projects", text("")), "text blank": with("projects", text(" ")),
		"501 characters":      with("projects", text(strings.Repeat("a", 501))),
		"Chinese":             with("preferences", text("用户喜欢绿茶和乌龙茶。")),
		"the prompt's sample": with("patterns", text("The user always practises before breakfast.")),
		"11 skills":           with("skills", many(11, `{"text":"The user swims.","importance":0.5}`)),
	}
	for _, list := range []string{"facts", "insights", "preferences", "patterns", "projects", "skills"} {
		answers["without "+list] = strings.Replace(strings.Replace(nothing, fmt.Sprintf(`%q:[],`, list), "", 1),
			fmt.Sprintf(`,%q:[]`, list), "", 1)
	}
	return answers
}

// An answer with any defect is refused whole: only the row changes, and states the reason.
func TestDeepReflection_RefusesMalformedAnswers(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.set.Attempts = 1000
	b.trip("c")
	if _, err := b.End(t.Context(), "app", "ada", "c", memory.TriggerEnd); err != nil {
		t.Fatal(err)
	}
	row := func(kind memory.ConsolidationType) memory.Consolidation {
		list, err := b.store.ListConsolidations(t.Context(),
			db.ConsolidationFilter{Owner: ada, ConversationID: "c", Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			if one.Type == kind {
				return one
			}
		}
		t.Fatal("no row")
		return memory.Consolidation{}
	}
	try := func(kind memory.ConsolidationType, made map[string]string) {
		own := len(made)
		for _, bad := range llmtest.Malformed() { // also those of the scorer
			made["scorer: "+bad.Name] = bad.Answer
		}
		attempts := 0
		for name, answer := range made {
			b.answers(answer, answer)
			attempts++
			state, err := b.attempt(t.Context(), row(kind))
			if is := row(kind); err != nil || state != memory.ConsolidationFailed || is.State != state ||
				is.Attempts != attempts || is.Error == "" || is.EndedAt.IsZero() {
				t.Errorf("%s: %s: %+v, %v", kind, name, is, err)
			}
		}
		want(t, "memories", b.memories(), nil)
		if own < 30 {
			t.Errorf("only %d answers are made for %s", own, kind)
		}
		t.Logf("%d malformed answers refused, %d of them made for %s", len(made), own, kind)
	}
	try(memory.FastReplay, malformedReplays())
	try(memory.DeepReflection, malformedReflections())
	found, err := b.store.ListFacts(t.Context(), db.FactFilter{Owner: ada, At: b.clock.Now(), Limit: 10})
	if err != nil || len(found) != 0 {
		t.Errorf("facts %+v, %v", found, err)
	}
	b.answers(goodReplay, nothing)
	if done, err := b.RunAll(t.Context()); err != nil || done != (Totals{Done: 3}) {
		t.Errorf("good answers: %+v, %v", done, err)
	}
}

func TestParseReplay_LimitsTheSummary(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		summary string
		fits    bool
	}{
		{strings.Repeat("长", 200), true}, {strings.Repeat("长", 201), false},
		{strings.TrimSpace(strings.Repeat("word ", 80)), true}, {strings.TrimSpace(strings.Repeat("word ", 81)), false},
		{strings.Repeat("a", 800), true}, {strings.Repeat("a", 801), false},
	} {
		if fits(test.summary) != test.fits {
			t.Errorf("%d bytes: %t", len(test.summary), !test.fits)
		}
	}
	long := strings.TrimSpace(strings.Repeat("word ", 78)) + "."
	for _, test := range []struct {
		name   string
		events []memory.Message
		want   string
	}{
		{"important first, in their order", []memory.Message{event("", long), event(memory.Failure, "The pump broke."),
			event(memory.Task, "Order a pump. Call Bea!")}, "The pump broke. Order a pump. Call Bea!"},
		{"statements first, of them the user's", []memory.Message{{Role: "assistant", Content: long},
			event("", "Is it 3.5 m long? It is."), {Role: "assistant", Content: "Yes."}}, long + " It is."},
		{"Chinese", []memory.Message{event("", "我住在上海。我喜欢绿茶！"), event(memory.Decision, "周五去杭州。"),
			event("", strings.Repeat("很", 190))}, "我住在上海。我喜欢绿茶！周五去杭州。"},
		{"said once", []memory.Message{event("", "I swim."), event("", "i swim!")}, "I swim."},
		{"nothing", nil, ""},
	} {
		var events []session.Logged
		for _, m := range test.events {
			e := session.Logged{}
			e.Role = m.Role
			e.Content = m.Content
			e.Kind = m.Kind
			e.Importance = memory.Importance(m)
			if m.IsChat() {
				e.Kind = memory.Chat
			}
			events = append(events, e)
		}
		if got := extract(events); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
