package forgetting

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
)

// byActiveDays is the strengthening rule that counts active days.
var byActiveDays = func() Rule {
	r := strengthening
	r.Clock, r.MaxAbsence = ActiveClock, 365*aDay
	return r
}()

// everyDay lists n days from a day on.
func everyDay(from, n int) []int {
	days := make([]int, n)
	for i := range days {
		days[i] = from + i
	}
	return days
}

// A user who is active every day forgets as by the calendar, to the last digit.
func TestDuring_CountsAllTimeOfAUserWhoIsActiveEveryDay(t *testing.T) {
	t.Parallel()
	rule := byActiveDays.During(db.ActiveDays{"": everyDay(db.DayOf(begin), 61)}, time.Time{})
	for _, row := range table {
		a := db.Age{CreatedAt: begin, LastAccessedAt: begin, AccessCount: row.accesses, Importance: 0.8}
		for hours := range 61 * 24 {
			at := begin.Add(time.Duration(hours) * time.Hour)
			got, want := rule.Retention(a, at), strengthening.Retention(a, at)
			if got != want || rule.Faded(a, at) != strengthening.Faded(a, at) {
				t.Fatalf("after %d hours and %d accesses: %v, want %v", hours, row.accesses, got, want)
			}
		}
	}
}

// The measured time equals the number of hours that count, checked hour by hour.
func TestDuring_MeasuresTheTimeThatCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := db.DayOf(begin)
		days := rapid.SliceOfNDistinct(rapid.IntRange(first, first+60), 1, 30, rapid.ID).Draw(t, "days")
		slices.Sort(days)
		rule := byActiveDays
		rule.MaxAbsence = time.Duration(rapid.IntRange(0, 30*24).Draw(t, "absence")) * time.Hour
		activeFrom := time.Time{}
		if rapid.Bool().Draw(t, "active later") {
			activeFrom = begin.Add(time.Duration(rapid.IntRange(-24, 1500).Draw(t, "from")) * time.Hour)
		}
		counts := func(at time.Time) bool {
			if !activeFrom.IsZero() && !at.Before(activeFrom) {
				return true
			}
			last := -1
			for _, day := range days {
				if day <= db.DayOf(at) {
					last = day
				}
			}
			return last >= 0 && (last == db.DayOf(at) || at.Sub(db.Midnight(last+1)) >= rule.MaxAbsence)
		}
		since := begin.Add(time.Duration(rapid.IntRange(-48, 1400).Draw(t, "since")) * time.Hour)
		at := since.Add(time.Duration(rapid.IntRange(0, 1400).Draw(t, "hours")) * time.Hour)
		want := time.Duration(0)
		for hour := since; hour.Before(at); hour = hour.Add(time.Hour) {
			if counts(hour) {
				want += time.Hour
			}
		}
		rule = rule.During(db.ActiveDays{"": days}, activeFrom)
		a := db.Age{LastAccessedAt: since}
		if got := rule.idle(a, at); got != want {
			t.Fatalf("%s count of %s, want %s", got, at.Sub(since), want)
		}
		if want == 0 {
			return
		}
		reached := rule.idleFor(a, want)
		if reached.After(at) || rule.idle(a, reached) != want || rule.idle(a, reached.Add(-time.Second)) >= want {
			t.Fatalf("%s are reached at %s, want until %s", want, reached, at)
		}
	})
}

// For a memory, the active days with its agent count, and active days with other agents do not.
func TestDuring_CountsTheDaysOfTheAgent(t *testing.T) {
	t.Parallel()
	first := db.DayOf(begin)
	rule := byActiveDays.During(db.ActiveDays{"": everyDay(first, 40), "coach": everyDay(first, 2)}, time.Time{})
	at := begin.AddDate(0, 0, 40)
	for agent, want := range map[string]time.Duration{"": 40 * aDay, "coach": 2 * aDay, "never active": 40 * aDay} {
		if got := rule.idle(db.Age{LastAccessedAt: begin, AgentID: agent}, at); got != want {
			t.Errorf("agent %q: %s, want %s", agent, got, want)
		}
	}
}

// The calendar counts for a user without a known active day, and for every user by the wall clock.
func TestDuring_CountsAllTimeWithoutActiveDays(t *testing.T) {
	t.Parallel()
	wall := byActiveDays
	wall.Clock = WallClock
	a, at := db.Age{LastAccessedAt: begin, Importance: 1}, begin.AddDate(0, 0, 30)
	for name, rule := range map[string]Rule{
		"unknown": byActiveDays.During(db.ActiveDays{}, time.Time{}),
		"wall":    wall.During(db.ActiveDays{"": {db.DayOf(begin)}}, time.Time{}),
	} {
		if !rule.Faded(a, at) {
			t.Errorf("%s: retention %v after 30 days", name, rule.Retention(a, at))
		}
	}
}

// After max_absence without an active day, days count by the calendar.
func TestDuring_EndsTheAbsence(t *testing.T) {
	t.Parallel()
	rule := byActiveDays.During(db.ActiveDays{"": {db.DayOf(begin)}}, time.Time{})
	a := db.Age{LastAccessedAt: begin, Importance: 0.8} // lasts 20.85 active days
	for days, want := range map[int]bool{300: false, 1 + 365 + 19: false, 1 + 365 + 20: true} {
		if at := begin.AddDate(0, 0, days); rule.Faded(a, at) != want {
			t.Errorf("after %d days: retention %v", days, rule.Retention(a, at))
		}
	}
	at, _ := rule.FadesAt(a)
	if got := at.Sub(begin).Hours() / 24; got < 1+365+19 || got > 1+365+20 {
		t.Errorf("it fades after %v days", got)
	}
}
