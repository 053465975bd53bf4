package compression

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/llm/llmtest"
)

const goodSummary = `{"summary":"Ada swam for five days.","sources":[1,2,3,4,5]}`

// malformed are answers about a group of five, each with a different defect.
func malformed() map[string]string {
	one := func(fields string) string { return `{"summaries":[{` + fields + `}]}` }
	list := func(summaries ...string) string { return `{"summaries":[` + strings.Join(summaries, ",") + `]}` }
	good := list(goodSummary)
	return map[string]string{
		// Not one JSON object.
		"empty":            "",
		"prose":            "Ada is a swimmer.",
		"html":             "<html><body>502 Bad Gateway</body></html>",
		"null":             "null",
		"truncated":        good[:len(good)-3],
		"two objects":      good + good,
		"lone surrogate":   one(`"summary":"\ud83d","sources":[1,2,3,4,5]`),
		"nested too deep":  `{"summaries":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
		"python literals":  `{"summaries":None}`,
		"duplicate fields": `{"summaries":[],"summaries":[` + goodSummary + `]}`,

		// The wrong shape.
		"no field":             `{}`,
		"summaries null":       `{"summaries":null}`,
		"no summaries":         `{"summaries":[]}`,
		"summaries an object":  `{"summaries":` + goodSummary + `}`,
		"summaries of strings": `{"summaries":["Ada swam."]}`,
		"a summary null":       list("null", goodSummary),
		"names in Chinese":     `{"摘要":[]}`,
		"reflection's answer":  `{"insights":[{"insight":"Ada swam.","sources":[1,2,3,4,5]}]}`,
		"4 summaries": list(`{"summary":"a","sources":[1,2,3,4,5]}`, `{"summary":"b","sources":[1]}`,
			`{"summary":"c","sources":[2]}`, `{"summary":"d","sources":[3]}`),

		// The sources.
		"no sources":           one(`"summary":"Ada swam."`),
		"sources null":         one(`"summary":"Ada swam.","sources":null`),
		"sources empty":        one(`"summary":"Ada swam.","sources":[]`),
		"one of two uncited":   list(goodSummary, `{"summary":"Ada is fast.","sources":[]}`),
		"source 0":             one(`"summary":"Ada swam.","sources":[0,1,2,3,4,5]`),
		"source negative":      one(`"summary":"Ada swam.","sources":[1,2,3,4,5,-1]`),
		"source unknown":       one(`"summary":"Ada swam.","sources":[1,2,3,4,5,6]`),
		"source huge":          one(`"summary":"Ada swam.","sources":[99999999999999999999]`),
		"source a fraction":    one(`"summary":"Ada swam.","sources":[1,2,3,4,5.5]`),
		"source a memory's id": one(`"summary":"Ada swam.","sources":["0198c0de-0000-7000-8000-000000000001"]`),
		"source twice":         one(`"summary":"Ada swam.","sources":[1,2,3,4,5,5]`),
		"sources a number":     one(`"summary":"Ada swam.","sources":5`),
		"one left out":         one(`"summary":"Ada swam.","sources":[1,2,3,4]`),
		"the first left out":   list(`{"summary":"Ada swam.","sources":[2,3]}`, `{"summary":"Ada is fast.","sources":[4,5]}`),

		// The text.
		"text missing":    one(`"sources":[1,2,3,4,5]`),
		"text null":       one(`"summary":null,"sources":[1,2,3,4,5]`),
		"text empty":      one(`"summary":"","sources":[1,2,3,4,5]`),
		"text blank":      one(`"summary":" \n ","sources":[1,2,3,4,5]`),
		"text a number":   one(`"summary":7,"sources":[1,2,3,4,5]`),
		"longer than all": one(fmt.Sprintf(`"summary":%q,"sources":[1,2,3,4,5]`, strings.Repeat("a", 400))),
		"longer together": list(fmt.Sprintf(`{"summary":%q,"sources":[1,2]}`, strings.Repeat("a", 150)),
			fmt.Sprintf(`{"summary":%q,"sources":[3,4,5]}`, strings.Repeat("b", 150))),
		"5,000 characters":    one(fmt.Sprintf(`"summary":%q,"sources":[1,2,3,4,5]`, strings.Repeat("a", 5000))),
		"the prompt's words":  one(`"summary":"Keep every name, number, date, negation and reason.","sources":[1,2,3,4,5]`),
		"the prompt's sample": one(`"summary":"苏眠2031年5月6日、8日和9日随市交响乐团排练。","sources":[1,2,3,4,5]`),
		"said twice":          list(goodSummary, goodSummary),
		"said twice, nearly":  list(goodSummary, `{"summary":"ada swam, for five days","sources":[3]}`),
	}
}

// If an answer has any defect, its group is refused and no row changes.
func TestCompress_RefusesMalformedAnswers(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.add(ada, 0, 5, nil)
	before := b.snapshot()
	answers := malformed()
	own := len(answers)
	for _, bad := range llmtest.Malformed() { // also those of the scorer
		answers["scorer: "+bad.Name] = bad.Answer
	}
	for name, answer := range answers {
		b.chat.Answers(answer)
		if r := b.compress(); len(r.Groups) != 1 || r.Groups[0].Refused == "" || len(r.Groups[0].Summaries) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if diff := cmp.Diff(before, b.snapshot()); diff != "" || len(b.pusher.Pushed()) != 0 {
		t.Errorf("changed: %s", diff)
	}
	t.Logf("%d malformed answers refused, %d of them made for compression", len(answers), own)
	b.chat.Answers(`{"summaries":[` + goodSummary + `]}`)
	if r := b.compress(); len(r.Groups[0].Summaries) != 1 {
		t.Errorf("and a good one: %+v", r)
	}
}
