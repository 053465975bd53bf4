package forgetting

import (
	"context"
	"math"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// visit notes that ada is active on the clock's day.
func (b *fixture) visit() {
	b.t.Helper()
	if err := b.store.InUser(b.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.NoteActivity(ctx, "", b.clock.Now())
	}); err != nil {
		b.t.Fatal(err)
	}
}

// nights runs forgetting every night for some days, and ada is active on each of them if visits is true.
func (b *fixture) nights(days int, visits bool) {
	b.t.Helper()
	for range days {
		b.clock.Advance(aDay)
		if visits {
			b.visit()
		}
		if totals, err := b.RunAll(b.t.Context(), "test"); err != nil || totals.Failed > 0 {
			b.t.Fatalf("%+v, %v", totals, err)
		}
	}
}

// statements adds 300 statements of three importances, a hundred of each. The least important were never accessed, the
// others once and twice.
func (b *fixture) statements() {
	b.visit()
	for i := range 3 {
		b.add(100, 0, func(m *memory.Memory) { m.Importance, m.AccessCount = float64(i)/2, i })
	}
}

// An absent user loses no memory.
func TestRunAll_KeepsAllOfAnAbsentUser(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.Rule = byActiveDays
	b.statements()
	away := 0
	for _, days := range []int{7, 60, 300} {
		b.nights(days-away, false)
		away = days
		if n := b.count(); n != 300 {
			t.Fatalf("after %d days without a turn %d of 300 memories are left", days, n)
		}
		if due, err := b.Due(t.Context(), ada, b.clock.Now().Add(aDay)); err != nil || due.Faded > 0 {
			t.Fatalf("after %d days without a turn %d are due, %v", days, due.Faded, err)
		}
	}
	b.visit()
	if n := b.count(); n != 300 || b.run(true).Due > 0 {
		t.Errorf("on the return %d of 300 memories are left", n)
	}
	b.nights(20, true)
	if n := b.count(); n >= 300 || n < 200 {
		t.Errorf("after 20 active days %d of 300 memories are left, want all that are not unimportant", n)
	}
}

// The memories of a user who never returns are forgotten after the greatest absence.
func TestRunAll_ForgetsAUserWhoNeverReturns(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.Rule = byActiveDays
	b.set.MaxAbsence = 30 * aDay
	b.statements()
	b.nights(40, false)
	if n := b.count(); n != 300 {
		t.Errorf("after 40 days %d of 300 memories are left", n)
	}
	b.nights(80, false)
	if n := b.count(); n > 100 {
		t.Errorf("after 120 days %d of 300 memories are left", n)
	}
}

// After each of 60 active days, as many memories are left as by the calendar, with the same distribution.
func TestRunAll_EqualsTheCalendarForAnActiveUser(t *testing.T) {
	t.Parallel()
	services := []*fixture{newFixture(t), newFixture(t)}
	services[0].set.Rule = byActiveDays
	for _, b := range services {
		b.statements()
	}
	for day := range 60 {
		var left [2]int
		var counts [2]Distribution
		for i, b := range services {
			b.nights(1, true)
			left[i] = b.count()
			var err error
			if counts[i], err = b.AppDistribution(t.Context(), ada.AppID); err != nil {
				t.Fatal(err)
			}
		}
		if left[0] != left[1] || counts[0].Low != counts[1].Low || counts[0].Medium != counts[1].Medium {
			t.Fatalf("after %d days %d are left, by the calendar %d: %+v", day+1, left[0], left[1], counts)
		}
		if day == 59 && left[0] >= 300 {
			t.Error("nothing was forgotten in 60 days")
		}
	}
}

// The distributions of an app and of its user, and a preview, agree on what the active days leave.
func TestDistribution_CountsActiveDays(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.set.Rule = byActiveDays
	b.clock.Set(begin.AddDate(0, 0, -40))
	b.visit()
	b.clock.Set(begin)
	b.visit()
	b.add(10, 40, nil)
	ofApp, err := b.AppDistribution(t.Context(), ada.AppID)
	if err != nil {
		t.Fatal(err)
	}
	ofUser, err := b.UserDistribution(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	preview, err := b.Preview(t.Context(), ada, begin, b.Rule(), Listing{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	// One active day: 0.9 * 0.9. All fade 19.85 days later.
	first := preview.Listed[0]
	days := first.FadesAt.Sub(begin).Hours() / 24
	if ofApp.High.Memories != 10 || math.Abs(ofApp.High.Retention-0.81) > 1e-9 || ofUser.High != ofApp.High ||
		preview.Due != 0 || days < 19.85 || days > 19.86 {
		t.Errorf("the app has %+v, the user %+v, the first memory %+v", ofApp.High, ofUser.High, first)
	}
}
