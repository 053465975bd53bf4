package recall

import (
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func TestDateMatch_LiftsWhatWasSaidOrHappensInTheTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 3, 21, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		query, content string
		said           string
		want           float64
	}{
		{"What did I do yesterday?", "I swam.", "2031-03-20T23:00:00Z", 1},
		{"What did I do yesterday?", "I swam.", "2031-03-21T09:00:00Z", dayAfter},
		{"What did I do yesterday?", "I swam yesterday.", "2031-03-21T09:00:00Z", 1},
		{"What did I do yesterday?", "I swam.", "2031-03-19T09:00:00Z", daysAfter},
		{"What did I do yesterday?", "I swam.", "2031-03-18T09:00:00Z", 0},
		{"What did I do on 10 March?", "I swam.", "2031-03-19T09:00:00Z", daysAfter},
		{"What did I do on 10 March?", "I swam.", "2031-03-21T09:00:00Z", 0},
		{"What happens on 12 June?", "My flight is on 12 June.", "2031-02-01T09:00:00Z", 1},
		{"What happens in June?", "My flight is on 12 June.", "2031-02-01T09:00:00Z", 1},
		{"What happens on 13 June?", "My flight is on 12 June.", "2031-02-01T09:00:00Z", 0},
		{"What happens on 12 June?", "My exams are in June.", "2031-02-01T09:00:00Z", longerTime},
		{"What happens in summer?", "My exams are in June.", "2031-02-01T09:00:00Z", 1},
		{"What happens on 12 June?", "I am away from the 10th to the 14th of June.", "2031-02-01T09:00:00Z", 1},
		{"上个月我做了什么？", "我去游泳了。", "2031-02-28T23:00:00Z", 1},
		{"6月12日有什么安排？", "我的航班是6月12日。", "2031-02-01T09:00:00Z", 1},
		{"What do I like?", "I swam.", "2031-03-21T09:00:00Z", 0},
	} {
		said, err := time.Parse(time.RFC3339, c.said)
		if err != nil {
			t.Fatal(err)
		}
		x := newIndex(1, []db.Document{{ID: idOf("1"), Content: c.content, CreatedAt: said}})
		cues := queryCuesOf(c.query, at)
		if got := cues.dateMatch(&x.docs[0]); got != c.want {
			t.Errorf("%q fits %q of %s by %v, want %v", c.content, c.query, c.said, got, c.want)
		}
	}
}

// If a query names nothing but a time, what belongs to the time comes first, surely, and words count little. Another
// user's agenda, or an empty week, has no sure answer.
func TestRecall_OfAnythingInATime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	add := func(said, content string) {
		at, err := time.Parse(time.DateOnly, said)
		if err != nil {
			t.Fatal(err)
		}
		f.add(content, func(m *memory.Memory) { m.CreatedAt = at.Add(9 * time.Hour) }, true)
	}
	add("2031-02-01", "I have an exam on 25 March.")
	add("2031-03-19", "The plumber comes on Tuesday.")
	add("2031-03-02", "What I have planned for next week is a week of next to nothing.")
	add("2031-03-03", "Next week we have a plan to have a plan.")
	at := time.Date(2031, 3, 21, 10, 0, 0, 0, time.UTC)
	got := f.recall(Query{Text: "What do I have planned for next week?", At: at})
	if len(got.Memories) < 3 || !slices.Contains(contents(got)[:2], "I have an exam on 25 March.") ||
		!slices.Contains(contents(got)[:2], "The plumber comes on Tuesday.") {
		t.Fatalf("the week's plans are not first: %q", contents(got))
	}
	for i, m := range got.Memories {
		if sure := m.Confidence > 0.5; sure != (i < 2) {
			t.Errorf("%q has the confidence %v", m.Memory.Content, m.Confidence)
		}
	}
	for _, m := range f.recall(Query{Text: "What do I have planned for June?", At: at}).Memories {
		if m.Confidence > 0.5 {
			t.Errorf("%q is planned for June with the confidence %v", m.Memory.Content, m.Confidence)
		}
	}
	for question, isPlanned := range map[string]bool{
		"What did I do this month?": false, "What have I been doing this month?": false, "我这个月做了什么？": false,
		"What's on this month?": true, "What did I say this month?": true, "What was planned for this month?": true,
	} {
		found := slices.ContainsFunc(f.recall(Query{Text: question, At: at}).Memories, func(m Recalled) bool {
			return m.Memory.Content == "The plumber comes on Tuesday." && m.Confidence > 0.5
		})
		if found != isPlanned {
			t.Errorf("%q finds what is planned: %v, want %v", question, found, isPlanned)
		}
	}
	for _, m := range f.recall(Query{Text: "Which exam do I have next week?", At: at}).Memories {
		if m.Memory.Content == "I have an exam on 25 March." && m.Date != f.set.Cues.Date {
			t.Errorf("a query that names an exam weighs the time by %v, not %v", m.Date, f.set.Cues.Date)
		}
	}
}

// A day is a day in the zone of the query's own instant, else in the zone of the settings.
func TestRecall_ReadsTimesInTheZoneOfTheQuery(t *testing.T) {
	t.Parallel()
	west := time.FixedZone("", -8*3600)
	at := time.Date(2031, 2, 1, 18, 0, 0, 0, west) // 2 February in UTC
	for name, c := range map[string]struct {
		zone, configured *time.Location
		want             string
	}{
		"of the query":    {zone: west, configured: time.UTC, want: "2031-01-31T00:00:00-08:00"},
		"of the settings": {configured: west, want: "2031-01-31T00:00:00-08:00"},
		"none":            {want: "2031-02-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.set.Zone = c.configured
			answer := f.recall(Query{Text: "What did I cook yesterday?", At: at.UTC(), Zone: c.zone})
			if len(answer.When) != 1 || answer.When[0].From.Format(time.RFC3339) != c.want ||
				answer.When[0].Words != "yesterday" {
				t.Errorf("%+v, want it to begin at %s", answer.When, c.want)
			}
		})
	}
}

// A stored index holds the days that texts name, as they are in the zone of the settings.
func TestIndex_ReadsDaysOfTextsInTheZoneOfTheSettings(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 8*3600)
	said := time.Date(2031, 3, 20, 23, 0, 0, 0, time.UTC) // 21 March in the east
	docs := []db.Document{{ID: idOf("1"), Content: "I swam yesterday.", CreatedAt: said}}
	for name, c := range map[string]struct {
		zone *time.Location
		want time.Time
	}{
		"UTC":  {want: time.Date(2031, 3, 19, 0, 0, 0, 0, time.UTC)},
		"east": {zone: east, want: time.Date(2031, 3, 20, 0, 0, 0, 0, time.UTC)},
	} {
		x := indexOf(db.Changes{Revision: 1, Documents: docs}, c.zone)
		want := [2]dayRange{{dayOf(c.want), dayOf(c.want) + 1}}
		data, err := x.encode()
		if err != nil {
			t.Fatal(err)
		}
		restored, err := decode(1, data, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if x.docs[0].about != want || restored.docs[0].about != want {
			t.Errorf("%s: %v, restored %v, want %v", name, x.docs[0].about, restored.docs[0].about, want)
		}
		if _, err := decode(1, data, time.FixedZone("elsewhere", 3600)); err == nil {
			t.Errorf("%s: an index of another zone is decoded", name)
		}
	}
}
