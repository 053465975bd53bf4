package reflection

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

const goodInsight = `{"insight":"Ada swims every day.","sources":[1,2],"domain":"lifestyle_and_interests"}`

// numbered are five facts, of ids 1 to 5.
func numbered() (facts []memory.Memory) {
	for i := range 5 {
		facts = append(facts, memory.Memory{
			ID: fmt.Sprint(i + 1), Content: fmt.Sprintf("Ada swam %d lengths on day %d.", 10+i, i+1), Domain: memory.Lifestyle,
			CreatedAt: time.Date(2026, 3, 1+i, 8, 0, 0, 0, time.UTC),
		})
	}
	return facts
}

// outcome describes the result of an answer: the insights with their sources and the sources that retire, the reasons
// for what is left out, or why the answer is refused.
func outcome(answer string) string {
	found, err := parse(&llm.Answer{Text: answer}, numbered())
	if err != nil {
		return "refused: " + err.Error()
	}
	var parts []string
	for _, in := range found.insights {
		parts = append(parts, fmt.Sprintf("%s %v-%v", in.Content, memory.IDs(in.Sources), in.retire))
	}
	return strings.Join(append(parts, found.leftOut...), " | ")
}

const swims = "Ada swims every day. [1 2]-[]"

// sloppy are answers about the five facts, each with a different defect, and the outcome that each must have. The end
// of an outcome that ends with … is not compared.
func sloppy() map[string][2]string {
	one := func(fields string) string { return `{"insights":[{` + fields + `}]}` }
	with := func(item string) string { return `{"insights":[` + goodInsight + `,` + item + `]}` }
	good := `{"insights":[` + goodInsight + `]}`
	eleven := make([]string, 11)
	for i := range eleven {
		eleven[i] = fmt.Sprintf(`{"insight":"Ada swims, %s.","sources":[1]}`, strings.Repeat("again and ", i))
	}
	return map[string][2]string{
		// The form is repaired.
		"good":                  {good, swims},
		"no insight":            {`{"insights":[]}`, ""},
		"a byte order mark":     {"\ufeff" + good, swims},
		"a fence and prose":     {"Sure!\n```json\n" + good + "\n```\nBye.", swims},
		"thoughts":              {"<think>{hm}</think>" + good, swims},
		"comments":              {`{"insights":[` + goodInsight + ` /* one */ ] // all` + "\n}", swims},
		"trailing commas":       {`{"insights":[` + goodInsight + `,],}`, swims},
		"a single object":       {`{"insights":` + goodInsight + `}`, swims},
		"a bare list":           {"[" + goodInsight + "]", swims},
		"unknown fields":        {`{"insights":[` + goodInsight + `],"mood":"good"}`, swims},
		"unknown inner field":   {one(`"insight":"Ada swims.","sources":[1],"why":1`), "Ada swims. [1]-[]"},
		"names in another case": {`{"Insights":[` + goodInsight + `]}`, swims},
		"sources as strings":    {one(`"insight":"Ada swims.","sources":["1"," 2 "]`), "Ada swims. [1 2]-[]"},
		"a single source":       {one(`"insight":"Ada swims.","sources":3`), "Ada swims. [3]-[]"},
		"a source twice":        {one(`"insight":"Ada swims.","sources":[2,2]`), "Ada swims. [2]-[]"},
		"unknown domain":        {one(`"insight":"Ada swims.","sources":[1],"domain":"sport"`), "Ada swims. [1]-[]"},
		"control characters":    {one(`"insight":"Ada \u202eswims.\u0007","sources":[1]`), "Ada swims. [1]-[]"},

		// Sources that retire.
		"retire":                 {`{"insights":[` + goodInsight + `],"retire":[2]}`, "Ada swims every day. [1 2]-[2]"},
		"retire left out":        {good, swims},
		"retire null":            {`{"insights":[` + goodInsight + `],"retire":null}`, swims},
		"retire as strings":      {`{"insights":[` + goodInsight + `],"retire":["1"]}`, "Ada swims every day. [1 2]-[1]"},
		"retire a single number": {`{"insights":[` + goodInsight + `],"retire":1}`, "Ada swims every day. [1 2]-[1]"},
		"retire twice":           {`{"insights":[` + goodInsight + `],"retire":[1,1]}`, "Ada swims every day. [1 2]-[1]"},
		"retire what is not cited": {`{"insights":[` + goodInsight + `],"retire":[1,3]}`,
			"Ada swims every day. [1 2]-[1] | retire names 3, …"},
		"retire an unknown number": {`{"insights":[` + goodInsight + `],"retire":[9]}`, swims + " | retire names 9, …"},
		"retire by name": {`{"insights":[` + goodInsight + `],"retire":["all"]}`,
			swims + ` | retire names "all", …`},
		"retire everything":         {`{"insights":[` + goodInsight + `],"retire":true}`, swims + " | retire names true, …"},
		"retire without an insight": {`{"insights":[],"retire":[1]}`, "retire names 1, …"},

		// A bad insight is left out alone.
		"one uncited": {with(`{"insight":"Ada is fast.","sources":[]}`), swims + " | insights[1] cites no source"},
		"one unknown": {with(`{"insight":"Ada is fast.","sources":[7]}`),
			swims + " | insights[1] cites the number 7 of 5"},
		"one a string":     {with(`"Ada is fast."`), swims + " | insights[1] does not fit…"},
		"one null":         {with(`null`), swims + " | insights[1] has no text"},
		"one invented":     {with(`{"insight":"Ada swam with Bea.","sources":[1]}`), swims + ` | insights[1] adds "Bea"…`},
		"one invented age": {with(`{"insight":"Ada is 34.","sources":[1,2]}`), swims + ` | insights[1] adds "34"…`},
		"said twice":       {with(goodInsight), swims + " | insights[1] repeats another one"},
		"said twice, nearly": {with(`{"insight":"ada swims, every day","sources":[3]}`),
			swims + " | insights[1] repeats another one"},
		"the prompt's words": {with(`{"insight":"Add nothing that the cited facts do not say.","sources":[1]}`),
			swims + " | insights[1] repeats the prompt's own words"},
		"another language": {with(`{"insight":"艾达每天游泳。","sources":[1]}`), swims + " | insights[1] is in another language…"},
		"11 insights":      {`{"insights":[` + strings.Join(eleven, ",") + `]}`, "Ada swims, . [1]-[] | …"},

		// Nothing is left.
		"empty":            {"", "refused: …"},
		"prose":            {"Ada is a swimmer.", "refused: …"},
		"html":             {"<html><body>502 Bad Gateway</body></html>", "refused: …"},
		"null":             {"null", "refused: …"},
		"truncated":        {good[:len(good)-3], "refused: …"},
		"two objects":      {good + `{"insights":[]}`, "refused: …"},
		"lone surrogate":   {one(`"insight":"\ud83d","sources":[1]`), "refused: …"},
		"nested too deep":  {`{"insights":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", "refused: …"},
		"python literals":  {`{"insights":None}`, "refused: …"},
		"duplicate fields": {`{"insights":[],"insights":[` + goodInsight + `]}`, "refused: …"},
		"no insights":      {`{}`, "refused: the answer has no insights field"},
		"retire alone":     {`{"retire":[1]}`, "refused: the answer has no insights field"},
		"names in Chinese": {`{"归纳":[]}`, "refused: …"},
		"sources missing":  {one(`"insight":"Ada swims."`), "refused: insights[0] cites no source"},
		"sources null":     {one(`"insight":"Ada swims.","sources":null`), "refused: insights[0] cites no source"},
		"source 0":         {one(`"insight":"Ada swims.","sources":[0]`), "refused: insights[0] cites the number 0 of 5"},
		"source negative": {one(`"insight":"Ada swims.","sources":[1,-1]`),
			"refused: insights[0] cites the number -1 of 5"},
		"source huge":       {one(`"insight":"Ada swims.","sources":[99999999999999999999]`), "refused: …"},
		"source a fraction": {one(`"insight":"Ada swims.","sources":[1.5]`), "refused: insights[0] cites 1.5, …"},
		"source an id": {one(`"insight":"Ada swims.","sources":["0198c0de-0000"]`),
			`refused: insights[0] cites "0198c0de-0000", …`},
		"text missing":        {one(`"sources":[1]`), "refused: insights[0] has no text"},
		"text blank":          {one(`"insight":" \n ","sources":[1]`), "refused: insights[0] has no text"},
		"text a number":       {one(`"insight":7,"sources":[1]`), "refused: insights[0] does not fit…"},
		"text too long":       {one(fmt.Sprintf(`"insight":%q,"sources":[1]`, strings.Repeat("a", 1001))), "refused: …"},
		"the prompt's sample": {one(`"insight":"苏眠在市交响乐团吹双簧管，每周二和周四晚上排练。","sources":[1,2]`), "refused: …"},
		"invented": {one(`"insight":"Ada was born in Kyoto in 1931.","sources":[1,2,3]`),
			`refused: insights[0] adds "Kyoto" and "1931", …`},
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
func TestReflect_RefusedAnswersChangeNothing(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.addFacts(5)
	before := b.snapshot()
	for _, name := range []string{"prose", "truncated", "no insights", "source 0", "invented"} {
		b.chat.Answers(sloppy()[name][0])
		_, err := b.Reflect(t.Context(), ada, Always)
		if !memory.IsKind(err, memory.KindBadAnswer) {
			t.Errorf("%s: %v", name, err)
		}
		prompts := b.chat.Prompts()
		if last := prompts[len(prompts)-1]; last.Refused == nil || last.Refused.Reason != err.Error() {
			t.Errorf("%s: corrected with %+v, error %v", name, last.Refused, err)
		}
	}
	if diff := cmp.Diff(before, b.snapshot()); diff != "" || len(b.pusher.Pushed()) != 0 {
		t.Errorf("changed: %s", diff)
	}
}

// What is left out of an answer is reported, and the good part is stored.
func TestReflect_ReportsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	facts := b.addFacts(5)
	b.chat.Answers(`{"insights":[` + goodInsight +
		`,{"insight":"Ada was born in Kyoto in 1931.","sources":[3,4,5]}],"retire":[1,2,3,4,5]}`)
	r := b.reflect(true)
	if len(r.Insights) != 1 || len(r.LeftOut) != 4 || !strings.Contains(r.LeftOut[0], `adds "Kyoto" and "1931"`) {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(ids(facts[:2]), r.Retired); diff != "" {
		t.Errorf("retired: %s", diff)
	}
}
