package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/growthtest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

func compile(t testing.TB, p memory.Policy) *Rules {
	t.Helper()
	rules, err := Compile(memory.PolicyVersion{AppID: "app", Number: 1, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// never is a policy with terms and patterns that are never kept.
var never = memory.Policy{Never: memory.PolicyRules{
	Terms:    []string{"diagnosis", "Insulin Pump", "糖尿病", "C++", "🙂", "They"},
	Patterns: []string{`LOT-\d{4}`, `(?i)begin[^#]*?end`},
}}

func TestNever_FindsSentences(t *testing.T) {
	t.Parallel()
	rules := compile(t, never)
	for _, c := range []struct {
		message string
		want    []Found
	}{
		{"I live in Oslo. The DIAGNOSIS is old! Bye.", []Found{{"The DIAGNOSIS is old!", "never.terms[0]"}}},
		{"Two insulin pumps.", []Found{{"Two insulin pumps.", "never.terms[1]"}}},
		{"An insulin\u00a0pump. A pump of insulin.", []Found{{"An insulin\u00a0pump.", "never.terms[1]"}}},
		{"我住在上海。我有糖尿病。", []Found{{"我有糖尿病。", "never.terms[2]"}}},
		{"I write C++ daily, and C.", []Found{{"I write C++ daily, and C.", "never.terms[3]"}}},
		{"I write C daily.", nil},
		{"Box LOT-7731 is here.\nLOT-12 is not.", []Found{{"Box LOT-7731 is here.", "never.patterns[0]"}}},
		{"Begin here. Go on. To the END. Not here.", []Found{
			{"Begin here.", "never.patterns[1]"}, {"Go on.", "never.patterns[1]"}, {"To the END.", "never.patterns[1]"},
		}},
		{"ｄｉａｇｎｏｓｉｓ", []Found{{"ｄｉａｇｎｏｓｉｓ", "never.terms[0]"}}},
		{"diag\u200bnosis", nil},
		{"Fine🙂ok. So they said. Theyre.", []Found{
			{"Fine🙂ok.", "never.terms[4]"}, {"So they said.", "never.terms[5]"},
		}},
		{"", nil},
	} {
		got := rules.Never(c.message)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.message, got, c.want)
		}
	}
	if got := (*Rules)(nil).Never("diagnosis"); got != nil {
		t.Errorf("without rules: %q", got)
	}
}

func TestJudge_NeverDecidesFirst(t *testing.T) {
	t.Parallel()
	rules := compile(t, memory.Policy{
		Keep: memory.PolicyRules{
			Types: []memory.Type{"preference"}, Domains: []memory.Domain{memory.Lifestyle}, Terms: []string{"allergic"},
		},
		Never: memory.PolicyRules{
			Types: []memory.Type{"task"}, Domains: []memory.Domain{memory.Social}, Terms: []string{"lupus"},
			Patterns: []string{`\d{5}`},
		},
	})
	const kind, place = memory.Type("preference"), memory.Lifestyle
	for _, c := range []struct {
		fact scorer.Fact
		want Judgement
	}{
		{scorer.Fact{Content: "Likes tea.", Type: kind, Domain: place}, Judgement{}},
		{scorer.Fact{Content: "Likes tea.", Type: "fact", Domain: place}, Judgement{Unasked: "keep.types"}},
		{scorer.Fact{Content: "Likes tea.", Type: kind, Domain: memory.Tasks}, Judgement{Unasked: "keep.domains"}},
		{scorer.Fact{Content: "Is allergic to tea.", Type: "fact", Domain: memory.Tasks}, Judgement{Keeps: "keep.terms[0]"}},
		{scorer.Fact{Content: "Is allergic.", Type: "task", Domain: place}, Judgement{Never: "never.types[0]"}},
		{scorer.Fact{Content: "Is allergic.", Type: kind, Domain: memory.Social}, Judgement{Never: "never.domains[0]"}},
		{scorer.Fact{Content: "Is allergic, has lupus.", Type: kind, Domain: place}, Judgement{Never: "never.terms[0]"}},
		{scorer.Fact{Content: "Code 12345.", Type: kind, Domain: place}, Judgement{Never: "never.patterns[0]"}},
	} {
		if got := rules.Judge(c.fact); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.fact, got, c.want)
		}
	}
}

func TestCategories_AreThoseOfThePolicy(t *testing.T) {
	t.Parallel()
	rules := compile(t, memory.Policy{Categories: []memory.Category{
		{Name: "diet", Terms: []string{"vegan", "eats no"}}, {Name: "pets"},
	}})
	for _, c := range []struct {
		named, text string
		want        []string
	}{
		{"", "Is a Vegan.", []string{"diet"}}, {"pets", "Is a vegan.", []string{"diet", "pets"}},
		{"other", "Has a cat.", nil},
		{"pets", "Has a cat.", []string{"pets"}}, {"Pets", "Has a cat.", nil},
	} {
		if got := rules.Categories(c.named, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q, %q: %q, want %q", c.named, c.text, got, c.want)
		}
	}
}

// A policy is refused with the path of each wrong field, whatever it has.
func TestCompile_RefusesHostilePolicies(t *testing.T) {
	t.Parallel()
	sided := func(change func(*memory.PolicyRules)) memory.Policy {
		var p memory.Policy
		change(&p.Never)
		return p
	}
	patterns := func(list ...string) memory.Policy {
		return sided(func(r *memory.PolicyRules) { r.Patterns = list })
	}
	terms := func(list ...string) memory.Policy { return sided(func(r *memory.PolicyRules) { r.Terms = list }) }
	long := func(r *memory.PolicyRules) { r.Instructions = strings.Repeat("界", memory.MaxPolicyText+1) }
	for i, c := range []struct {
		policy memory.Policy
		want   string
	}{
		{patterns("("), "never.patterns[0] is no regular expression"},
		{patterns("a", "(?=b)"), "never.patterns[1] is no regular expression"},
		{patterns(`(a)\1`), "never.patterns[0] is no regular expression"},
		{patterns("((a{1000}){1000}){1000}"), "never.patterns[0] is no regular expression"},
		{patterns("(a{10}){10}", "(b{20}){20}"), "never.patterns[1] is too large"},
		{patterns("a*"), "never.patterns[0] matches the empty text"},
		{patterns("^"), "never.patterns[0] matches the empty text"},
		{patterns(""), "never.patterns[0] is empty"},
		{patterns("a\x00"), "never.patterns[0] holds a NUL"},
		{patterns("\xff"), "never.patterns[0] is not valid UTF-8"},
		{patterns(strings.Repeat("a", memory.MaxPatternRunes+1)), "never.patterns[0] has 501 characters"},
		{patterns(slices.Repeat([]string{"a"}, memory.MaxPatterns+1)...), "never.patterns has 21 patterns"},
		{patterns(strings.Repeat("(", 250) + strings.Repeat(")", 250)), "matches the empty text"},
		{terms("a\nb"), "never.terms[0] holds the control character"},
		{terms("\xff"), "never.terms[0] is not valid UTF-8"},
		{terms(slices.Repeat([]string{"a"}, memory.MaxTerms+1)...), "never.terms has 101 terms"},
		{sided(long), "never.instructions has 2001 characters"},
		{sided(func(r *memory.PolicyRules) { r.Instructions = "\x00" }), "never.instructions"},
		{sided(func(r *memory.PolicyRules) { r.Types = []memory.Type{"message"} }), "never.types[0] is no type"},
		{sided(func(r *memory.PolicyRules) { r.Domains = []memory.Domain{"x"} }), "never.domains[0] is no domain"},
		{memory.Policy{Categories: []memory.Category{{Name: "a"}, {Name: "a"}}}, "categories[1].name is the name"},
		{memory.Policy{Categories: []memory.Category{{Name: "skill:a"}}}, "categories[0].name begins with skill:"},
		{memory.Policy{Categories: []memory.Category{{Name: "a\tb"}}}, "categories[0].name holds"},
		{memory.Policy{Categories: make([]memory.Category, memory.MaxCategories+1)}, "categories has 31"},
	} {
		rules, err := Compile(memory.PolicyVersion{Policy: c.policy})
		if rules != nil || !memory.IsKind(err, memory.KindInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
	}
}

func FuzzNever(f *testing.F) {
	rules := compile(f, never)
	slow := compile(f, memory.Policy{Never: memory.PolicyRules{Patterns: []string{
		`(a|aa|aaa|aaaa)+b`, `(x+x+)+y`, `(?i)\bword(?:\s+\w+){1,20}\s+end`, `[^.]{1,40}z`,
	}}})
	for _, seed := range []string{"a", "x", "word ", "LOT-1234. ", "begin ", "diagnosis\n", "我有糖尿病。", "\xff. ", "b.\n"} {
		f.Add("", seed)
		f.Add("LOT-1234 begin", seed)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		for _, r := range []*Rules{rules, slow} {
			for _, found := range r.Never(head + unit) {
				if !strings.Contains(head+unit, found.Text) || found.Text == "" || found.Rule == "" {
					t.Errorf("%+v is no part of %q", found, head+unit)
				}
			}
			growthtest.Check(t, head, unit, func(text string) { r.Never(text) })
		}
	})
}

// BenchmarkNever measures the largest policy of each kind on a message of 64 KiB.
func BenchmarkNever(b *testing.B) {
	message := strings.Repeat("We moved to Lisbon last week, and I start at the harbour on Monday aaaaaaaa. ", 840)
	var terms []string
	for i := range memory.MaxTerms {
		terms = append(terms, fmt.Sprintf("term%dx of some words", i))
	}
	for name, p := range map[string]memory.PolicyRules{
		"terms": {Terms: terms}, "patterns": {Patterns: []string{`LOT-\d{4}`, `(?i)begin[^e]*end`}},
		"slow patterns": {Patterns: []string{`[^z]{1,110}z`, `(a|aa|aaa|aaaa)+b`, `[^y]{1,15}y`}},
	} {
		rules := compile(b, memory.Policy{Never: p})
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				rules.Never(message)
			}
		})
	}
}
