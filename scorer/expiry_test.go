package scorer

import (
	"os"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

// The rules give a dated plan the end of its day in the user's zone, and nothing else.
func TestRules_EndDatedPlans(t *testing.T) {
	t.Parallel()
	west := time.FixedZone("-08:00", -8*3600)
	for content, want := range map[string]time.Time{
		"My flight to Rome is on 3 May.":                    time.Date(2026, 5, 4, 0, 0, 0, 0, west),
		"I have a dentist appointment tomorrow at 3 pm.":    time.Date(2026, 3, 4, 0, 0, 0, 0, west),
		"我3月5日有个面试。":                                        time.Date(2026, 3, 6, 0, 0, 0, 0, west),
		"I have a meeting every Monday at 9.":               {},
		"I start my new job at the dentist's on 3 May.":     {},
		"My flight to Rome was on 3 February.":              {},
		"I was born on 3 May 1990.":                         {},
		"I love flights to Rome.":                           {},
		"I had a long meeting with my boss today.":          {},
		"I call my mother on Sunday.":                       {},
		"I have an exam on 3 May and I love green tea.":     {},
		"My wedding is on 3 May, with a dinner by the sea.": {},
	} {
		turn := said(content)
		turn.Zone = west
		facts, err := NewRules().Score(t.Context(), turn, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(facts) != 1 {
			t.Errorf("%q: %d facts", content, len(facts))
		}
		for _, f := range facts {
			if !f.ExpiresAt.Equal(want) {
				t.Errorf("%q ends at %v, want %v", content, f.ExpiresAt, want)
			}
		}
	}
}

// Lines of testdata/plans.tsv are a statement of 3 March 2026 and the day on which it is over, or "-". A statement that
// says more than its plan must go on to answer; a plan without an end only answers for too long.
func TestRules_EndNothingThatSaysMoreThanAPlan(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/plans.tsv")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)
	plans, ended := 0, 0
	for line := range strings.Lines(string(data)) {
		said, want, _ := strings.Cut(strings.TrimSpace(line), "\t")
		got := "-"
		if end := planEnd(said, at); !end.IsZero() {
			got = end.Format(time.DateOnly)
		}
		switch {
		case want == "-" && got != want:
			t.Errorf("%q ends at %s", said, got)
		case want != "-":
			plans++
			if got == want {
				ended++
			} else {
				t.Logf("%q ends at %s, want %s", said, got, want)
			}
		}
	}
	if plans == 0 || 10*ended < 8*plans {
		t.Errorf("%d of %d plans end on their day", ended, plans)
	}
}

// A model's end counts if the fact names the day and it is not over.
func TestLLM_ProposesEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fact, expires string
		want          time.Time
	}{
		"a plan": {
			"Ana flies to Rome on 2026-05-03.", "2026-05-03", time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC),
		},
		"none":                  {"Ana flies to Rome on 2026-05-03.", "", time.Time{}},
		"a day that is over":    {"Ana flew to Rome on 2026-02-03.", "2026-02-03", time.Time{}},
		"a day not in the fact": {"Ana lives in Oslo.", "2026-05-03", time.Time{}},
		"no day":                {"Ana flies to Rome on 2026-05-03.", "soon", time.Time{}},
	} {
		chat := &canned{answer: `{"facts":[{"fact":"` + c.fact + `","importance":0.8,"domain":"tasks_and_schedules",` +
			`"type":"task","expires":"` + c.expires + `"}]}`}
		facts, err := NewLLM(chat).Score(t.Context(), said("I'm Ana. "+c.fact), nil)
		if err != nil || len(facts) != 1 || facts[0].Type != memory.Type("task") || !facts[0].ExpiresAt.Equal(c.want) {
			t.Errorf("%s: %+v, %v", name, facts, err)
		}
	}
}

// The plans of a message are its sentences that state one in the user's own words.
func TestPlans_AreSentencesOfTheUser(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)
	for message, want := range map[string]string{
		"My flight to Rome is on 3 May. I am allergic to peanuts.": "My flight to Rome is on 3 May.",
		"My exam at Dr. Li's is on 5 May. I fly on 3 May.":         "My exam at Dr. Li's is on 5 May.|I fly on 3 May.",
		"我3月5日有个面试。我对花生过敏。":                                        "我3月5日有个面试。",
		"Is my flight on 3 May? I am allergic to peanuts.":         "",
		"My boss wrote: \"The meeting is on 3 May. Bring cake.\"":  "",
		"I like flights. I am allergic to peanuts.":                "",
	} {
		var got []string
		for _, plan := range Plans(message, at) {
			got = append(got, plan.Content)
			if !plan.Ends.After(at) {
				t.Errorf("%q ends at %v", plan.Content, plan.Ends)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}
