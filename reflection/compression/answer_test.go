package compression

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

const goodSummary = `{"summary":"Ada swam for five days.","sources":[1,2,3,4,5]}`

// fiveSwims are five memories of 30 characters each, of ids 1 to 5.
func fiveSwims() (memories []memory.Memory) {
	for i := range 5 {
		memories = append(memories, memory.Memory{
			ID: fmt.Sprint(i + 1), Content: fmt.Sprintf("On day %d Ada swam %d lengths.", i+1, 10+i), Type: memory.TypeFact,
			Domain: memory.Lifestyle, CreatedAt: time.Date(2025, 11, 21+i, 8, 0, 0, 0, time.UTC),
		})
	}
	return memories
}

// outcome describes the result of an answer: the summaries with their sources, the reasons for what is left out, or why
// the answer is refused.
func outcome(answer string) string {
	found, err := parse(&llm.Answer{Text: answer}, fiveSwims(), 3)
	if err != nil {
		return "refused: " + err.Error()
	}
	var parts []string
	for _, s := range found.summaries {
		parts = append(parts, fmt.Sprintf("%s %v", s.Content, memory.IDs(s.Sources)))
	}
	return strings.Join(append(parts, found.leftOut...), " | ")
}

// sloppy are answers about the group, each with a different defect, and the outcome that each must have. The end of an
// outcome that ends with … is not compared.
func sloppy() map[string][2]string {
	one := func(fields string) string { return `{"summaries":[{` + fields + `}]}` }
	list := func(summaries ...string) string { return `{"summaries":[` + strings.Join(summaries, ",") + `]}` }
	good := list(goodSummary)
	const five = "Ada swam for five days. [1 2 3 4 5]"
	const twoStay = " | no summary stands for 2 of 5 memories, which stay"
	return map[string][2]string{
		// The form is repaired.
		"good": {good, five},
		"two": {
			list(`{"summary":"Ada swam.","sources":[1,2,3]}`, `{"summary":"Then, too.","sources":[3,4,5]}`),
			"Ada swam. [1 2 3] | Then, too. [3 4 5]",
		},
		"a byte order mark":     {"\ufeff" + good, five},
		"a fence and prose":     {"Sure!\n```json\n" + good + "\n```\nBye.", five},
		"thoughts":              {"<think>{hm}</think>" + good, five},
		"trailing commas":       {`{"summaries":[` + goodSummary + `,],}`, five},
		"a single object":       {`{"summaries":` + goodSummary + `}`, five},
		"a bare object":         {goodSummary, five},
		"a bare list":           {"[" + goodSummary + "]", five},
		"unknown fields":        {`{"summaries":[` + goodSummary + `],"mood":"good"}`, five},
		"names in another case": {`{"Summaries":[` + goodSummary + `]}`, five},
		"sources as strings":    {one(`"summary":"Ada swam.","sources":["1","2","3","4","5"]`), "Ada swam. [1 2 3 4 5]"},
		"a source twice":        {one(`"summary":"Ada swam.","sources":[1,2,3,4,5,5]`), "Ada swam. [1 2 3 4 5]"},

		// A bad summary is left out alone, and memories that no summary stands for stay.
		"two left out": {one(`"summary":"Ada swam.","sources":[1,2,3]`), "Ada swam. [1 2 3]" + twoStay},
		"one uncited": {list(goodSummary, `{"summary":"Ada is fast.","sources":[]}`),
			five + " | summaries[1] cites no source"},
		"one a string": {list(goodSummary, `"Ada is fast."`), five + " | summaries[1] does not fit…"},
		"one null":     {list("null", goodSummary), five + " | summaries[0] has no text"},
		"one invented": {
			list(`{"summary":"Ada swam.","sources":[1,2,3]}`, `{"summary":"Bea and Eve swam 99 days.","sources":[4,5]}`),
			`Ada swam. [1 2 3] | summaries[1] adds …`,
		},
		"said twice": {list(goodSummary, goodSummary), five + " | summaries[1] repeats another one"},
		"said twice, nearly": {list(goodSummary, `{"summary":"ada swam, for five days","sources":[1,2,3,4,5]}`),
			five + " | summaries[1] repeats another one"},
		"4 summaries": {list(`{"summary":"Ada a.","sources":[1,2]}`, `{"summary":"Ada b.","sources":[3]}`,
			`{"summary":"Ada c.","sources":[4]}`, `{"summary":"Ada d.","sources":[5]}`),
			"Ada a. [1 2] | Ada b. [3] | Ada c. [4] | summaries[3] is over the limit of 3 | no summary stands for 1 of 5…"},
		"longer together": {list(fmt.Sprintf(`{"summary":%q,"sources":[1,2,3]}`, strings.Repeat("a", 80)),
			fmt.Sprintf(`{"summary":%q,"sources":[4,5]}`, strings.Repeat("b", 80))),
			strings.Repeat("a", 80) + " [1 2 3] | the summaries have 160 characters, the memories that they cite only 145" +
				twoStay},

		// Nothing is left.
		"empty":          {"", "refused: …"},
		"prose":          {"Ada is a swimmer.", "refused: …"},
		"html":           {"<html><body>502 Bad Gateway</body></html>", "refused: …"},
		"null":           {"null", "refused: …"},
		"truncated":      {good[:len(good)-3], "refused: …"},
		"two objects":    {good + `{"summaries":[]}`, "refused: …"},
		"lone surrogate": {one(`"summary":"\ud83d","sources":[1,2,3,4,5]`), "refused: …"},
		"nested too deep": {`{"summaries":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
			"refused: …"},
		"python literals":     {`{"summaries":None}`, "refused: …"},
		"duplicate fields":    {`{"summaries":[],"summaries":[` + goodSummary + `]}`, "refused: …"},
		"no field":            {`{}`, "refused: the answer has no summaries"},
		"summaries null":      {`{"summaries":null}`, "refused: the answer has no summaries"},
		"no summaries":        {`{"summaries":[]}`, "refused: the answer has no summaries"},
		"summaries of text":   {`{"summaries":["Ada swam."]}`, "refused: summaries[0] does not fit…"},
		"names in Chinese":    {`{"摘要":[]}`, "refused: …"},
		"reflection's answer": {`{"insights":[{"insight":"Ada swam.","sources":[1,2,3,4,5]}]}`, "refused: …"},
		"sources missing":     {one(`"summary":"Ada swam."`), "refused: summaries[0] cites no source"},
		"source 0": {one(`"summary":"Ada swam.","sources":[0,1,2]`),
			"refused: summaries[0] cites the number 0 of 5"},
		"source unknown": {one(`"summary":"Ada swam.","sources":[1,2,6]`),
			"refused: summaries[0] cites the number 6 of 5"},
		"source a fraction": {one(`"summary":"Ada swam.","sources":[1,5.5]`), "refused: summaries[0] cites 5.5, …"},
		"text missing":      {one(`"sources":[1,2,3,4,5]`), "refused: summaries[0] has no text"},
		"text blank":        {one(`"summary":" \n ","sources":[1,2,3,4,5]`), "refused: summaries[0] has no text"},
		"text a number":     {one(`"summary":7,"sources":[1,2,3,4,5]`), "refused: …"},
		"longer than all": {one(fmt.Sprintf(`"summary":%q,"sources":[1,2,3,4,5]`, strings.Repeat("a", 400))),
			"refused: the summaries have 400 characters…"},
		"5,000 characters": {one(fmt.Sprintf(`"summary":%q,"sources":[1,2,3,4,5]`, strings.Repeat("a", 5000))),
			"refused: …"},
		"the prompt's words": {one(`"summary":"Keep every name, number, date, negation and reason.","sources":[1,2,3]`),
			"refused: summaries[0] repeats the prompt's own words"},
		"the prompt's sample": {one(`"summary":"苏眠2031年5月6日、8日和9日随市交响乐团排练。","sources":[1,2,3]`), "refused: …"},
		"another language": {one(`"summary":"艾达游泳了五天。","sources":[1,2,3,4,5]`),
			"refused: summaries[0] is in another language…"},
		"invented": {one(`"summary":"Ada swam across Lake Como in 1931.","sources":[1,2,3,4,5]`),
			`refused: summaries[0] adds …`},
	}
}

func TestParse_KeepsTheGoodPartsOfAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range sloppy() {
		got, want := outcome(test[0]), test[1]
		if begin, cut := strings.CutSuffix(want, "…"); cut && !strings.HasPrefix(got, begin) || !cut && got != want {
			t.Errorf("%s:\n%.300s\nwant\n%s", name, got, want)
		}
	}
	for _, bad := range llmtest.Malformed() { // those of the scorer
		if got := outcome(bad.Answer); !strings.HasPrefix(got, "refused") {
			t.Errorf("scorer: %s: %.300s", bad.Name, got)
		}
	}
	t.Logf("%d kinds of answers", len(sloppy()))
}

// A refused answer changes no row. The model is asked once more, with the reason.
func TestCompress_RefusedAnswersChangeNothing(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.add(ada, 0, 5, nil)
	before := b.snapshot()
	for _, name := range []string{"prose", "truncated", "no field", "source 0", "longer than all", "invented"} {
		b.chat.Answers(sloppy()[name][0])
		r := b.compress()
		if len(r.Groups) != 1 || r.Groups[0].Refused == "" || len(r.Groups[0].Summaries)+r.Groups[0].Retired != 0 {
			t.Errorf("%s: %+v", name, r)
		}
		prompts := b.chat.Prompts()
		if last := prompts[len(prompts)-1]; last.Refused == nil || last.Refused.Reason != r.Groups[0].Refused {
			t.Errorf("%s: corrected with %+v", name, last.Refused)
		}
	}
	if diff := cmp.Diff(before, b.snapshot()); diff != "" || len(b.pusher.Pushed()) != 0 {
		t.Errorf("changed: %s", diff)
	}
}

// Memories that no good summary stands for stay, and the result states why.
func TestCompress_KeepsWhatNoSummaryStandsFor(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	old := b.add(ada, 0, 5, nil)
	b.chat.Answers(sloppy()["one invented"][0])
	g := b.compress().Groups[0]
	if len(g.Summaries) != 1 || g.Retired != 3 || len(g.LeftOut) != 2 || g.Refused != "" {
		t.Errorf("%+v", g)
	}
	for i, m := range old {
		want := memory.Active
		if i < 3 {
			want = memory.Consolidated
		}
		if is := b.memory(m.ID).Status; is != want {
			t.Errorf("memory %d is %s", i+1, is)
		}
	}
}
