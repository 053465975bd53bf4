package changes

import (
	"io"
	"slices"
	"testing"

	"hippocampus/cmd/bench/target"
)

func TestData_HasSixtyPairsAndFourHundredOthersEach(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "zh"} {
		seen := map[string]bool{}
		single := 0
		list := Pairs(language)
		for _, p := range list {
			for _, s := range []string{p.Older, p.Newer} {
				if s == "" || seen[s] {
					t.Errorf("%q is empty or there twice", s)
				}
				seen[s] = true
			}
			if p.Kind == "" || p.Question == "" {
				t.Errorf("%+v lacks a kind or a question", p)
			}
			if slices.Contains([]string{
				"home", "employer", "job", "name", "age", "relationship", "phone", "email", "diet", "language",
			}, p.Kind) {
				single++
			}
		}
		if len(list) != 60 || single != 30 {
			t.Errorf("%s has %d pairs, %d of them of single attributes", language, len(list), single)
		}
		for _, other := range Others(language, 400, 7) {
			if other == "" || seen[other] {
				t.Errorf("%q is empty or there twice", other)
			}
			seen[other] = true
		}
		if len(seen) != 520 {
			t.Errorf("%s has %d statements", language, len(seen))
		}
		few := map[string]bool{}
		for _, other := range Others(language, 40, 7) {
			few[other] = true
		}
		if len(few) != 40 {
			t.Errorf("%d of 40 other statements differ", len(few))
		}
	}
}

func TestData_EndingsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for file, want := range map[string]map[string]int{
		"endings":       {"en": 30, "zh": 15, "de": 15},
		"endings-dev":   {"en": 30, "zh": 15, "de": 15},
		"endings-traps": {"en": 20, "zh": 8, "de": 8},
	} {
		pairs, err := PairsOf("testdata/" + file + ".tsv")
		if err != nil {
			t.Fatal(err)
		}
		for _, language := range Languages {
			list := pairs(language)
			if len(list) != want[language] {
				t.Errorf("%s has %d pairs in %s, want %d", file, len(list), language, want[language])
			}
			for _, p := range list {
				if p.Newer == "" || seen[p.Newer] {
					t.Errorf("%q is empty or there twice", p.Newer)
				}
				seen[p.Newer] = true
			}
		}
	}
	for _, other := range Others("de", 40, 0) {
		if seen[other] {
			t.Errorf("%q is there twice", other)
		}
		seen[other] = true
	}
}

func TestRun_CountsCurrentAndFormerStatements(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model bool
		pairs func(language string) []Pair
		want  Count
	}{
		"the scripted model supersedes": {
			true, func(language string) []Pair { return Pairs(language)[:min(1, len(Pairs(language)))] },
			Count{Pairs: 1, First: 1},
		},
		"nothing supersedes what is true": {false, func(language string) []Pair {
			if language == "de" {
				return nil
			}
			return []Pair{{
				Kind: "none", Older: "I play chess with my sister.", Newer: "I bought a tent in Oslo.",
				Question: "With whom do I play chess?",
			}}
		}, Count{Pairs: 1, Former: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Run(t.Context(), Options{
				Size: target.Small, Others: []int{0, 2}, Each: 1, Model: c.model, Pairs: c.pairs, Progress: t.Output(),
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Results) != 4 {
				t.Fatalf("%+v", r.Results)
			}
			for _, l := range r.Results {
				if l.All != c.want || len(l.Kinds) != 1 || len(l.Failures) != c.want.Former {
					t.Errorf("%+v", l)
				}
			}
			if err := r.Print(io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
}
