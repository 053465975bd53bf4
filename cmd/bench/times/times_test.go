package times

import (
	"io"
	"testing"
	"time"

	"hippocampus/cmd/bench/target"
)

func TestData_EachQuestionHasAnEarlierStatement(t *testing.T) {
	t.Parallel()
	for _, language := range languages {
		said := map[string]time.Time{}
		statements, err := statementsOf(language, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			if !said[s.id].IsZero() || s.text == "" {
				t.Errorf("%s is there twice, or is empty", s.id)
			}
			said[s.id] = s.at
		}
		questions, err := questionsOf(language, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for _, q := range questions {
			count[q.Half]++
			if at := said[q.Answer]; at.IsZero() || !at.Before(q.At) {
				t.Errorf("%q is asked before its statement %s", q.Text, q.Answer)
			}
		}
		if len(statements) != 120 || count["tuned"] != 30 || count["held"] != 30 || count["later"] != 60 {
			t.Errorf("%s has %d statements and questions %v", language, len(statements), count)
		}
	}
}

func TestRun_AsksEveryQuestionInItsZone(t *testing.T) {
	t.Parallel()
	r, err := Run(t.Context(), Options{Size: target.Small, Zones: []string{"Asia/Shanghai"}, Progress: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != len(languages)*len(halves) {
		t.Fatalf("%d results", len(r.Results))
	}
	for _, l := range r.Results {
		asked := 30
		if l.Half == "later" {
			asked = 60
		}
		if l.Questions != asked || l.First < 1 || l.Three < l.First || l.Three > l.Questions {
			t.Errorf("%+v", l)
		}
	}
	if err := r.Print(io.Discard); err != nil {
		t.Error(err)
	}
}
