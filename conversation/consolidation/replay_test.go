package consolidation

import (
	"fmt"
	"strings"
	"testing"

	"hippocampus/conversation/session"
	"hippocampus/internal/llm"
)

// malformedReplays are answers about an English conversation, each with a different defect.
func malformedReplays() map[string]string {
	text := func(s string) string { return fmt.Sprintf(`{"summary":%q}`, s) }
	const good = goodReplay
	return map[string]string{
		"empty": "", "blank": " \n", "prose": "Ada plans a trip.", "html": "<html>502</html>", "null": "null",
		"a string": `"Ada plans a trip."`,
		"a number": "7", "truncated": good[:len(good)-2], "truncated in a word": good[:16],
		"two objects":   good + `{"summary":"a"}`,
		"single quotes": `{'summary':'Ada plans a trip.'}`,
		"no field":      `{}`, "another field": `{"text":"Ada plans a trip."}`,
		"twice":          `{"summary":"Ada plans.","summary":"Ada plans a trip."}`,
		"field null":     `{"summary":null}`,
		"field a number": `{"summary":7}`, "field a list": `{"summary":["Ada plans a trip."]}`,
		"field an object": `{"summary":{"text":"Ada"}}`,
		"field true":      `{"summary":true}`, "a list of texts": `["Ada plans a trip."]`,
		"field empty": text(""), "field blank": text(" \n "),
		"lone surrogate": `{"summary":"\ud83d"}`, "invalid UTF-8": "{\"summary\":\"\xff\"}",
		"121 words": text(strings.Repeat("word ", 121)), "1,201 characters": text(strings.Repeat("a", 1201)),
		"Chinese":             text("艾达计划五月去波尔图旅行。"),
		"5,000 characters":    text(strings.Repeat("a", 5000)),
		"the prompt's words":  text("Say what the conversation was about, what was decided or done and how it turned out."),
		"the prompt's sample": text("The user travels to Bergen on 3 May 2031 for an oboe course."),
		"fences":              "```json\n" + good + "\n```\n```json\n{\"summary\":\"a\"}\n```",
	}
}

// A summary of a sloppy form is read.
func TestParseReplay_ReadsSloppyAnswers(t *testing.T) {
	t.Parallel()
	const good, want = goodReplay, "The user plans a trip."
	for name, answer := range map[string]string{
		"a byte order mark":     "\ufeff" + good,
		"a fence and prose":     "Sure!\n```json\n" + good + "\n```\nBye.",
		"thoughts":              "<think>{hm}</think>" + good,
		"a trailing comma":      `{"summary":"The user plans a trip.",}`,
		"unknown fields":        `{"summary":"The user plans a trip.","words":5}`,
		"names in another case": `{"Summary":"The user plans a trip."}`,
		"a list of one":         "[" + good + "]",
		"control characters":    `{"summary":"The user \u202eplans a trip.\u0007"}`,
	} {
		events := []session.Event{{Role: "user", Content: "I want to go to Porto in May.", At: noon}}
		if got, err := parseReplay(&llm.Answer{Text: answer}, "", events); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestFits_LimitsTheSummary(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		summary string
		times   float64
		fits    bool
	}{
		{strings.Repeat("长", 200), 1, true},
		{strings.Repeat("长", 201), 1, false},
		{strings.Repeat("长", 300), tolerance, true},
		{strings.Repeat("长", 301), tolerance, false},
		{strings.Repeat("word ", 80), 1, true},
		{strings.Repeat("word ", 81), 1, false},
		{strings.Repeat("word ", 120), tolerance, true},
		{strings.Repeat("word ", 121), tolerance, false},
		{strings.Repeat("a", 800), 1, true},
		{strings.Repeat("a", 801), 1, false},
	} {
		if fits(strings.TrimSpace(test.summary), test.times) != test.fits {
			t.Errorf("%d bytes, %g times: %t", len(test.summary), test.times, !test.fits)
		}
	}
}
