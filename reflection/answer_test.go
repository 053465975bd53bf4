package reflection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

const goodInsight = `{"insight":"Ada swims every day.","sources":[1,2],"domain":"lifestyle_and_interests"}`

// malformed are answers about five facts, each with a different defect.
func malformed() map[string]string {
	one := func(fields string) string { return `{"insights":[{` + fields + `}]}` }
	good := `{"insights":[` + goodInsight + `]}`
	return map[string]string{
		// Not one JSON object.
		"empty":            "",
		"prose":            "Ada is a swimmer.",
		"html":             "<html><body>502 Bad Gateway</body></html>",
		"null":             "null",
		"truncated":        good[:len(good)-3],
		"two objects":      good + good,
		"lone surrogate":   one(`"insight":"\ud83d","sources":[1]`),
		"nested too deep":  `{"insights":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
		"python literals":  `{"insights":None}`,
		"duplicate fields": `{"insights":[],"insights":[` + goodInsight + `]}`,

		// The wrong shape.
		"no insights":         `{}`,
		"retire alone":        `{"retire":[1]}`,
		"insights null":       `{"insights":null}`,
		"insights an object":  `{"insights":` + goodInsight + `}`,
		"insights of strings": `{"insights":["Ada swims."]}`,
		"an insight null":     `{"insights":[null]}`,
		"names in Chinese":    `{"归纳":[]}`,

		// The sources.
		"no sources":            one(`"insight":"Ada swims."`),
		"sources null":          one(`"insight":"Ada swims.","sources":null`),
		"sources empty":         one(`"insight":"Ada swims.","sources":[]`),
		"source 0":              one(`"insight":"Ada swims.","sources":[0]`),
		"source negative":       one(`"insight":"Ada swims.","sources":[1,-1]`),
		"source unknown":        one(`"insight":"Ada swims.","sources":[1,6]`),
		"source huge":           one(`"insight":"Ada swims.","sources":[99999999999999999999]`),
		"source a fraction":     one(`"insight":"Ada swims.","sources":[1.5]`),
		"source a memory's id":  one(`"insight":"Ada swims.","sources":["0198c0de-0000-7000-8000-000000000001"]`),
		"source twice":          one(`"insight":"Ada swims.","sources":[2,2]`),
		"sources a number":      one(`"insight":"Ada swims.","sources":1`),
		"one of two uncited":    `{"insights":[` + goodInsight + `,{"insight":"Ada is fast.","sources":[]}]}`,
		"one of two is unknown": `{"insights":[` + goodInsight + `,{"insight":"Ada is fast.","sources":[7]}]}`,

		// What retires.
		"retires what is not cited":  `{"insights":[` + goodInsight + `],"retire":[1,2,3]}`,
		"retires without an insight": `{"insights":[],"retire":[1]}`,
		"retires an unknown one":     `{"insights":[` + goodInsight + `],"retire":[9]}`,
		"retires one twice":          `{"insights":[` + goodInsight + `],"retire":[1,1]}`,
		"retires by name":            `{"insights":[` + goodInsight + `],"retire":["all"]}`,
		"retires everything":         `{"insights":[` + goodInsight + `],"retire":true}`,

		// The text.
		"text missing":        one(`"sources":[1]`),
		"text null":           one(`"insight":null,"sources":[1]`),
		"text empty":          one(`"insight":"","sources":[1]`),
		"text blank":          one(`"insight":" \n ","sources":[1]`),
		"text a number":       one(`"insight":7,"sources":[1]`),
		"text too long":       one(fmt.Sprintf(`"insight":%q,"sources":[1]`, strings.Repeat("a", 1001))),
		"the prompt's words":  one(`"insight":"Add nothing that they do not say.","sources":[1]`),
		"the prompt's sample": one(`"insight":"苏眠在市交响乐团吹双簧管，每周二和周四晚上排练。","sources":[1,2]`),
		"said twice":          `{"insights":[` + goodInsight + `,` + goodInsight + `]}`,
		"said twice, nearly":  `{"insights":[` + goodInsight + `,{"insight":"ada swims, every day","sources":[3]}]}`,
		"domain unknown":      one(`"insight":"Ada swims.","sources":[1],"domain":"sport"`),
		"domain empty":        one(`"insight":"Ada swims.","sources":[1],"domain":""`),
		"11 insights": func() string {
			list := make([]string, 11)
			for i := range list {
				list[i] = fmt.Sprintf(`{"insight":"Ada swims %d times.","sources":[1]}`, i)
			}
			return `{"insights":[` + strings.Join(list, ",") + `]}`
		}(),
	}
}

// An answer with any defect is refused whole, and no row changes.
func TestReflect_RefusesMalformedAnswers(t *testing.T) {
	t.Parallel()
	b := newFixture(t, defaults)
	b.addFacts(5)
	before := b.snapshot()
	answers := malformed()
	own := len(answers)
	for _, bad := range llmtest.Malformed() { // also those of the scorer
		answers["scorer: "+bad.Name] = bad.Answer
	}
	for name, answer := range answers {
		b.chat.Answers(answer)
		if r, err := b.Reflect(t.Context(), ada, Always); !memory.IsKind(err, memory.KindBadAnswer) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if diff := cmp.Diff(before, b.snapshot()); diff != "" || len(b.pusher.Pushed()) != 0 {
		t.Errorf("changed: %s", diff)
	}
	t.Logf("%d malformed answers refused, %d of them made for reflection", len(answers), own)
	b.chat.Answers(`{"insights":[` + goodInsight + `],"retire":[1,2]}`)
	if r := b.reflect(true); len(r.Insights) != 1 || len(r.Retired) != 2 {
		t.Errorf("and a good one: %+v", r)
	}
}
