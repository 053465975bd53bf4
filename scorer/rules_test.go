package scorer

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"hippocampus/internal/growthtest"
	"hippocampus/internal/memory"
	"hippocampus/internal/secret"
)

func TestRules_LabelledSentences(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for _, row := range labelled {
		cleaned, _ := secret.Cut(row.says) // as the server does before it stores a turn
		facts, err := NewRules().Score(t.Context(), said(cleaned), nil)
		if err != nil {
			t.Fatal(err)
		}
		var domain memory.Domain
		for _, f := range facts {
			if f.Importance >= 0.7 {
				domain = f.Domain
			}
			if !isSaid(cleaned, f.Content) {
				t.Errorf("%q: the fact %q is not the user's wording", row.says, f.Content)
			}
		}
		language := "en"
		if isHan(row.says) {
			language = "zh"
		}
		switch {
		case row.domain != "" && domain != "":
			count[language+" hit"]++
		case row.domain != "":
			count[language+" missed"]++
		case domain != "":
			count[language+" wrong"]++
		default:
			count[language+" refused"]++
		}
		if domain != row.domain {
			t.Errorf("%q: domain %q, want %q (%+v)", row.says, domain, row.domain, facts)
		}
	}
	for _, l := range []string{"en", "zh"} {
		hit := count[l+" hit"]
		missed := count[l+" missed"]
		wrong := count[l+" wrong"]
		refused := count[l+" refused"]
		if rows := hit + missed + wrong + refused; rows < 60 {
			t.Errorf("%s: only %d labelled sentences", l, rows)
		}
		t.Logf("%s: %d kept, %d refused, precision %.3f, recall %.3f", l, hit, refused,
			float64(hit)/float64(hit+wrong), float64(hit)/float64(hit+missed))
	}
}

// isSaid reports whether a fact is in the user's wording. A fact of one clause may have the subject of the clause
// before it and the mark that ends the sentence.
func isSaid(says, fact string) bool {
	says, fact = apostrophes.Replace(says), apostrophes.Replace(fact)
	if strings.Contains(says, fact) {
		return true
	}
	fact = strings.TrimRight(fact, ".!。！ ")
	for _, subject := range []string{"", "I ", "i ", "We ", "we ", "I'm ", "i'm ", "I am ", "i am ", "我", "我们", "我是"} {
		clause, cut := strings.CutPrefix(fact, subject)
		if cut && strings.Contains(says, subject) && strings.Contains(says, clause) {
			return true
		}
	}
	return false
}

func TestRules_MakeAFactOfEachClauseAboutTheUser(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]string{
		"I live in Lisbon and work as a marine biologist.": "lifestyle_and_interests: I live in Lisbon.|" +
			"professional_and_academic: I work as a marine biologist.",
		"I live in Lisbon and work as a vet, what should I read?": "lifestyle_and_interests: I live in Lisbon|" +
			"professional_and_academic: I work as a vet",
		"我住在里斯本,是一名海洋生物学家。": "lifestyle_and_interests: 我住在里斯本。|" +
			"professional_and_academic: 我是一名海洋生物学家。",
		"I live in Lisbon and Porto.": "lifestyle_and_interests: I live in Lisbon and Porto.",
		"Remember that I live in Lisbon and I am a vet": "lifestyle_and_interests: " +
			"Remember that I live in Lisbon and I am a vet",
	} {
		facts, err := NewRules().Score(t.Context(), said(says), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range facts {
			if f.Importance >= 0.7 {
				got = append(got, string(f.Domain)+": "+f.Content)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", says, got, want)
		}
	}
}

func isHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 0x4e00 && r < 0xa000 })
}

func TestRules_TrimMarksAtTheEndOfAFact(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"I'm learning Portuguese; thanks!": "I'm learning Portuguese",
		"I live in Lisbon,\nbye":           "I live in Lisbon",
		"I am allergic to walnuts:":        "I am allergic to walnuts",
		"我住在里斯本；":                          "我住在里斯本",
		"我对花生过敏，":                          "我对花生过敏",
		"I keep bees.":                     "I keep bees.",
	} {
		turn := memory.Turn{Messages: []memory.Message{{Role: "user", Content: said}}}
		facts, err := NewRules().Score(t.Context(), turn, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(facts) == 0 || facts[0].Content != want {
			t.Errorf("%q became %+v, want %q", said, facts, want)
		}
	}
	turn := memory.Turn{Messages: []memory.Message{{Role: "user", Content: " ; :,"}}}
	if facts, err := NewRules().Score(t.Context(), turn, nil); err != nil || len(facts) != 0 {
		t.Errorf("marks became %+v: %v", facts, err)
	}
}

func TestRules_ReadOnlyTheUser(t *testing.T) {
	t.Parallel()
	facts, err := NewRules().Score(t.Context(), memory.Turn{Messages: []memory.Message{
		{Role: "system", Content: "I live in Rome."},
		{Role: "assistant", Content: "I love jazz. My name is Bot."},
		{
			Role: "user",
			Content: "Hi! Dr. Lee says hello. I live in St. Petersburg.\nI paid 3.50 for it\n- I hate fog…\nI hate fog…\n" +
				`She wrote: "I moved. I live in Ohio. I am a nurse." Then she left.`,
		},
		{Role: "tool", Content: "My name is Tool."},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, f := range facts {
		if f.Importance >= 0.7 {
			kept = append(kept, f.Content)
		}
	}
	if got, want := strings.Join(kept, "|"), "I live in St. Petersburg.|I hate fog…"; got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// A sentence with a word about secrets is read like any other. A sentence from which the server has cut a secret is no
// fact.
func TestRules_TakeNoSecretForAFact(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]bool{
		"My PIN is [secret] and I live in Lisbon.":  false,
		"Remember that my password is [secret].":    false,
		"请记住我的密码是[secret]":                          false,
		"I work on password managers at Bitwarden.": true,
		"I love enamel pins.":                       true,
		"我在一家做密码锁的公司工作。":                            true,
	} {
		facts, err := NewRules().Score(t.Context(), said(sentence), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(facts, func(f Fact) bool { return f.Importance >= 0.7 }); got != want {
			t.Errorf("Score(%q) is %+v", sentence, facts)
		}
	}
}

func TestRules_AreBounded(t *testing.T) {
	t.Parallel()
	var says strings.Builder
	for i := range 200 {
		says.WriteString("I love food number " + strings.Repeat("x", i+1) + ". ")
	}
	for _, content := range []string{says.String(), "I love " + strings.Repeat("a", 60_000), strings.Repeat("我", 20_000),
		strings.Repeat("i ", 30_000), strings.Repeat("?", 60_000)} {
		facts, err := NewRules().Score(t.Context(), said(content), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(facts) > MaxFacts {
			t.Errorf("%d facts", len(facts))
		}
		for _, f := range facts {
			if why := memory.CheckContent(f.Content, memory.MaxContentRunes); why != "" {
				t.Errorf("a fact of %d bytes %s", len(f.Content), why)
			}
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewRules().Score(stopped, memory.Turn{Messages: []memory.Message{{Role: "user", Content: "x"}}}, nil)
	if !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("a cancelled context gives %v", err)
	}
}

func FuzzRules(f *testing.F) {
	for _, row := range labelled {
		f.Add("", row.says)
	}
	f.Add("I’m `‘ allergic, ", "you?")
	for _, unit := range []string{"a. I like b c. ", "e.g. ", "\"a. ", "... ", "?!", "。", "- ", "x", ", you"} {
		f.Add("I love tea, ", unit)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		says := head + unit
		if !utf8.ValidString(head) || !utf8.ValidString(unit) {
			return
		}
		facts, err := NewRules().Score(t.Context(), said(says), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, fact := range facts {
			if why := memory.CheckContent(fact.Content, memory.MaxContentRunes); why != "" && !strings.Contains(says, "\x00") {
				t.Fatalf("%q: %s", fact.Content, why)
			}
			if !isSaid(says, fact.Content) {
				t.Fatalf("%q was not said in %q", fact.Content, says)
			}
		}
		growthtest.Check(t, head, unit, func(text string) {
			for _, sentence := range sentences(text) {
				if len(sentence) <= maxSentenceRunes {
					read(sentence)
				}
			}
		})
	})
}

// The bytes that a message costs grow in proportion to its length, also if nothing in it ends
// a sentence. This test is not parallel: it reads the allocations of the process.
func TestSentences_TakeLinearSpace(t *testing.T) {
	for _, unit := range []string{"a. I like b c. ", "e.g. ", "\"a. ", "... ", "?!", "。", "- ", "x"} {
		allocated := func(size int) float64 {
			message := strings.Repeat(unit, size/len(unit))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			sentences(message)
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		if growth := allocated(32<<10) / allocated(8<<10); growth > 8 {
			t.Errorf("a message of %q that is 4 times as long allocates %.1f times as much", unit, growth)
		}
	}
}

// A sentence that states a single attribute of the user is kept, even if it is unlike other statements.
func TestRules_KeepSingleAttributes(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"I am a nurse.":                           "I am a nurse.",
		"My mobile number is 0612345678.":         "My mobile number is 0612345678.",
		"I turned 45 today.":                      "I turned 45 today.",
		"I live in Utrecht and work as a nurse.":  "I live in Utrecht.|I work as a nurse.",
		"我的电话是13800001111。":                       "我的电话是13800001111。",
		`She wrote: "I live in Ohio." Then left.`: "",
		"如果我有钱，我就住在巴黎":                            "",
	} {
		facts, err := NewRules().Score(t.Context(), memory.Turn{
			Messages: []memory.Message{{Role: memory.RoleUser, Content: said}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, f := range facts {
			if f.Importance >= 0.7 {
				kept = append(kept, f.Content)
			}
		}
		if got := strings.Join(kept, "|"); got != want {
			t.Errorf("%q: kept %q, want %q", said, got, want)
		}
	}
}

// An answer that means nothing without its question is no fact, unless the user speaks of "I".
func TestRules_KeepNoFragments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, said string
		isKept       bool
	}{
		{"你给小猫取了什么名字？", "团子。", false},
		{"", "团子。", true},
		{"小猫需要安静。", "团子。", true},
		{"你抽烟吗", "我抽烟。", true},
		{"你住在哪里？", "我住在苏州。", true},
		{"Do you smoke?", "I smoke.", true},
	} {
		before := []memory.Message{{Role: "assistant", Content: c.before}, {Role: "system", Content: "Be brief."}}
		one, err := NewRules().Score(t.Context(), said(c.said), before)
		if err != nil {
			t.Fatal(err)
		}
		inOne := said(c.said)
		inOne.Messages = append(before, inOne.Messages...)
		other, err := NewRules().Score(t.Context(), inOne, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, facts := range [][]Fact{one, other} {
			kept := slices.ContainsFunc(facts, func(f Fact) bool { return f.Importance >= 0.7 })
			if kept != c.isKept {
				t.Errorf("%q after %q: %+v", c.said, c.before, facts)
			}
		}
	}
}
