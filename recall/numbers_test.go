package recall

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest"
)

func TestNumbersIn_ReturnsWordsWithDigits(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"Is invoice INV-2023-053 paid?":        {"!inv 2023 053"},
		"Which gate, B14 or B41? B14.":         {"!b 14", "!b 41"},
		"My flight on 3 May at 08:15":          {"3", "08 15"},
		"会议室301在几楼？钥匙码是７７３１吗":                  {"301", "!7731"},
		"What did I do in 2023, on the 2nd?":   {"2023", "2 nd"},
		"Take 20mg of it, or 1,200 steps.":     {"20 mg", "1", "200"},
		"Who is #4711-a? And ticket 12/AB-3?":  {"!4711", "12 ab 3"},
		"What do I like?":                      nil,
		"Is v2 of A1-B2 out - or 15-inch, 50%": {"!v 2", "!1 b 2", "15 inch", "50"},
	} {
		var got []string
		for _, n := range numbersIn(query) {
			mark := ""
			if n.code {
				mark = "!"
			}
			got = append(got, mark+strings.Join(n.lexemes, " "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

// Each word with a digit has a lexeme, whatever its script.
func TestNumbersIn_HasLexemesForAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, n := range numbersIn(rapid.String().Draw(t, "query")) {
			if len(n.lexemes) == 0 {
				t.Fatal("a number has no lexeme")
			}
		}
	})
}

func TestRecall_ANumberDecidesBetweenEqualMemories(t *testing.T) {
	t.Parallel()
	for _, pair := range [][4]string{
		{"Invoice INV-2023-052 is paid.", "Invoice INV-2023-053 is open.",
			"Is invoice INV-2023-052 paid?", "Is invoice INV-2023-053 paid?"},
		{"Ticket ABC-104 is assigned to me.", "Ticket ABC-140 is assigned to me.", "ABC-104", "ABC-140"},
		{"My flight is on 3 May at 08:15.", "My flight is on 5 May at 08:15.", "flight on 3 May", "flight on 5 May"},
		{"The dentist sees me on 12 June.", "The dentist sees me on 21 June.", "dentist on 12 June", "dentist on 21 June"},
		{"会议室301在三楼。", "会议室302在三楼。", "会议室301在几楼？", "会议室302在几楼？"},
		{"I like Toy Story 2.", "I like Toy Story 3.", "Toy Story 2", "Toy Story 3"},
	} {
		f := newFixture(t)
		f.add(pair[0], nil, true)
		f.now = f.now.AddDate(0, 0, 1) // the second one is fresher
		f.add(pair[1], nil, true)
		for i, query := range pair[2:] {
			if got := contents(f.recall(Query{Text: query})); got[0] != pair[i] {
				t.Errorf("%s: got %q first", query, got[0])
			}
		}
	}
}

func TestFit_CountsUnknownCodesAsNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Invoice INV-2023-052 is paid.", nil, true)
	for query, want := range map[string]float64{
		"Is invoice INV-2023-052 paid?": 0, "Is invoice INV-2023-099 paid?": 1, "Are 3 invoices paid?": 0,
	} {
		if fit := f.recall(Query{Text: query}).Fit; fit.UnknownNames != want {
			t.Errorf("%s: unknown names %v, want %v", query, fit.UnknownNames, want)
		}
	}
}
