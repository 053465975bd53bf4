package chinese

import (
	"io"
	"testing"
	"unicode"

	"hippocampus/cmd/bench/changes"
	"hippocampus/cmd/bench/target"
)

// pairs returns the pairs of adjacent Chinese characters of a text.
func pairs(text string) map[string]bool {
	found := map[string]bool{}
	var before rune
	for _, c := range text {
		if unicode.Is(unicode.Han, c) {
			if before != 0 {
				found[string([]rune{before, c})] = true
			}
			before = c
		} else {
			before = 0
		}
	}
	return found
}

func shares(a, b string) bool {
	others := pairs(b)
	for pair := range pairs(a) {
		if others[pair] {
			return true
		}
	}
	return false
}

func TestStatements_HaveOneQuestionWithTheirWordsAndOneWithout(t *testing.T) {
	t.Parallel()
	users, seen := map[string]int{}, map[string]bool{}
	for _, s := range Statements() {
		users[s.User]++
		for _, text := range []string{s.Text, s.Near, s.Far} {
			if text == "" || seen[text] {
				t.Errorf("%q is empty or there twice", text)
			}
			seen[text] = true
		}
		if !shares(s.Near, s.Text) || shares(s.Far, s.Text) {
			t.Errorf("%s: %q shares words: %v, want true; %q: %v, want false",
				s.Text, s.Near, shares(s.Near, s.Text), s.Far, shares(s.Far, s.Text))
		}
	}
	for name, n := range users {
		if n != 15 {
			t.Errorf("%s has %d statements, want 15", name, n)
		}
	}
	if len(users) != 4 {
		t.Errorf("%d users, want 4", len(users))
	}
	for _, other := range changes.Others("zh", 400, 0) {
		if seen[other] {
			t.Errorf("%q is small talk and part of a life", other)
		}
	}
}

func TestRun_FindsWhatSharesWords(t *testing.T) {
	t.Parallel()
	all := Statements()
	r, err := Run(t.Context(), Options{
		Size: target.Small, Statements: []Statement{all[0], all[1], all[15]}, Others: 2, Progress: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Near.Questions != 3 || r.Near.R1 != 1 || r.All.Questions != 6 || len(r.Answers) != 9 {
		t.Errorf("%+v", r)
	}
	if err := r.Print(io.Discard); err != nil {
		t.Error(err)
	}
}

func TestReport_CountsATurnOnceAtItsFirstMemory(t *testing.T) {
	t.Parallel()
	u := user{turns: map[string]string{"own": "y", "lost": "z"}}
	var a answer
	for _, turn := range []string{"x", "x", "y"} {
		a.Memories = append(a.Memories, remembered{SourceTurnID: turn, Confidence: 0.2})
	}
	var r Report
	r.count(u, Near, Statement{Text: "own"}, a)
	r.count(u, Far, Statement{Text: "lost"}, a)
	r.count(u, Foreign, Statement{Text: "foreign"}, a)
	r.finish()
	if r.Near != (Ranks{Questions: 1, R5: 1, MRR: 0.5}) || r.All.R5 != 0.5 || len(r.Failures) != 1 {
		t.Errorf("%+v", r)
	}
	for _, b := range r.Bounds {
		want := TradeOff{Bound: b.Bound, Near: 1}
		if b.Bound > 0.2 {
			want.Refused, want.Near = 1, 0
		}
		if b != want {
			t.Errorf("%+v, want %+v", b, want)
		}
	}
}
