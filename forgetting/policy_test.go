package forgetting

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
)

var (
	begin         = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	strengthening = Rule{Policy: Strengthening, Threshold: 0.1, Base: 0.9, Growth: 1.5, MaxShare: 0.2}
	exponential   = Rule{Policy: Exponential, Threshold: 0.1, Lambda: 0.1, MinAge: 7 * 24 * time.Hour}
)

// Computed independently of this code, for importance 0.8:
// 0.9^(days/1.5^accesses) * 0.9 and min(1, e^(-0.1*days) * (1 + ln(1+accesses)) / 5).
var table = []struct {
	days, accesses             int
	strengthening, exponential float64
}{
	{0, 0, 0.900000000, 0.200000000}, {0, 1, 0.900000000, 0.338629436}, {0, 5, 0.900000000, 0.558351894},
	{0, 20, 0.900000000, 0.808904488},
	{1, 0, 0.810000000, 0.180967484}, {1, 1, 0.838952777, 0.306404585}, {1, 5, 0.887599056, 0.505217686},
	{1, 20, 0.899971484, 0.731927048},
	{7, 0, 0.430467210, 0.099317061}, {7, 1, 0.550436917, 0.168158401}, {7, 5, 0.816700394, 0.277269345},
	{7, 20, 0.899800407, 0.401690081},
	{30, 0, 0.038152042, 0.009957414}, {30, 1, 0.109418989, 0.016859367}, {30, 5, 0.593570319, 0.027798704},
	{30, 20, 0.899144913, 0.040272983},
	{90, 0, 0.000068560, 0.000024682}, {90, 1, 0.001617309, 0.000041790}, {90, 5, 0.258185299, 0.000068906},
	{90, 20, 0.897437177, 0.000099827},
	{365, 0, 0.000000000, 0.000000000}, {365, 1, 0.000000000, 0.000000000}, {365, 5, 0.005686828, 0.000000000},
	{365, 20, 0.889651457, 0.000000000},
}

func TestRetention_MatchesReferenceValues(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		a := db.Age{CreatedAt: begin, LastAccessedAt: begin, AccessCount: row.accesses, Importance: 0.8}
		at := begin.AddDate(0, 0, row.days)
		for rule, want := range map[Rule]float64{strengthening: row.strengthening, exponential: row.exponential} {
			got := rule.Retention(a, at)
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%s after %d days and %d accesses: %.9f, want %.9f", rule.Policy, row.days, row.accesses, got, want)
			}
			faded := want < 0.1 && (rule.Policy == Strengthening || row.days >= 7)
			if rule.Faded(a, at) != faded {
				t.Errorf("%s after %d days and %d accesses: faded is %v", rule.Policy, row.days, row.accesses, !faded)
			}
		}
	}
}

// A memory is kept a moment before its date of fading, and forgotten a moment after it.
func TestFadesAt_IsTheInstantOfFading(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]Rule{strengthening, exponential}).Draw(t, "rule")
		rule.Threshold = rapid.Float64Range(0.001, 0.9).Draw(t, "threshold")
		created := begin.Add(-time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "age")))
		a := db.Age{
			CreatedAt: created, UpdatedAt: created, LastAccessedAt: begin,
			AccessCount: rapid.IntRange(0, 12).Draw(t, "accesses"), Importance: rapid.Float64Range(0, 1).Draw(t, "importance"),
		}
		if rapid.Bool().Draw(t, "recorded later than accessed") {
			a.UpdatedAt, a.LastAccessedAt = begin, created
		}
		at, never := rule.FadesAt(a)
		if never {
			return
		}
		if at.Before(begin) {
			t.Fatalf("it fades at %s, before it was last accessed or recorded", at)
		}
		if after := at.Add(time.Minute); !rule.Faded(a, after) {
			t.Fatalf("retention %v at %s, after it was to fade", rule.Retention(a, after), after)
		}
		if before := at.Add(-time.Minute); before.After(begin) && rule.Faded(a, before) {
			t.Fatalf("retention %v at %s, before it was to fade", rule.Retention(a, before), before)
		}
	})
}

func TestRetention_IsMonotoneAndBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]Rule{strengthening, exponential}).Draw(t, "rule")
		a := db.Age{
			CreatedAt: begin, LastAccessedAt: begin,
			AccessCount: rapid.IntRange(0, 1_000_000).Draw(t, "accesses"),
			Importance:  rapid.Float64Range(0, 1).Draw(t, "importance"),
		}
		hours := rapid.Float64Range(0, 1e5).Draw(t, "hours")
		at := begin.Add(time.Duration(hours * float64(time.Hour)))
		r := rule.Retention(a, at)
		if !(r >= 0 && r <= 1) {
			t.Fatalf("retention %v", r)
		}
		if later := rule.Retention(a, at.Add(time.Hour)); later > r {
			t.Fatalf("retention grew from %v to %v with time", r, later)
		}
		more := a
		more.AccessCount++
		if used := rule.Retention(more, at); used < r {
			t.Fatalf("retention fell from %v to %v with an access", r, used)
		}
		more = a
		more.Importance = 1
		if dear := rule.Retention(more, at); dear < r {
			t.Fatalf("retention fell from %v to %v with importance", r, dear)
		}
	})
}

func TestFaded_ExemptsPinnedMemoriesAndReflections(t *testing.T) {
	t.Parallel()
	old := db.Age{CreatedAt: begin, LastAccessedAt: begin}
	pinned, reflection := old, old
	pinned.Pinned, reflection.Type = true, memory.TypeReflection
	for _, rule := range []Rule{strengthening, exponential} {
		at := begin.AddDate(10, 0, 0)
		if !rule.Faded(old, at) || rule.Faded(pinned, at) || rule.Faded(reflection, at) {
			t.Errorf("%s: an old memory fades, pinned ones and reflections stay", rule.Policy)
		}
		if _, never := rule.FadesAt(pinned); !never {
			t.Errorf("%s: a pinned memory has a date of fading", rule.Policy)
		}
	}
	much := db.Age{CreatedAt: begin, LastAccessedAt: begin, AccessCount: 1_000_000}
	if _, never := strengthening.FadesAt(much); !never {
		t.Error("a memory that is used all the time has a date of fading")
	}
}

// messages.keep limits the age of messages, and of no other memory.
func TestFaded_ForgetsOldMessages(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rule := Rule{Policy: Strengthening, Threshold: 0.1, Base: 0.99, Growth: 2, MessageAge: 30 * day}
	age := func(days int, kind memory.Type) db.Age {
		at := now.Add(-time.Duration(days) * day)
		return db.Age{CreatedAt: at, LastAccessedAt: now, Importance: 0.5, Type: kind}
	}
	tests := map[string]struct {
		age  db.Age
		want bool
	}{
		"younger message": {age(29, memory.TypeMessage), false},
		"old message":     {age(30, memory.TypeMessage), true},
		"old fact":        {age(30, memory.TypeFact), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := rule.Faded(test.age, now); got != test.want {
				t.Errorf("faded is %v", got)
			}
			if at, _ := rule.FadesAt(test.age); !at.After(now) != test.want {
				t.Errorf("it fades at %s", at)
			}
		})
	}
	pinned := age(90, memory.TypeMessage)
	pinned.Pinned = true
	if rule.Faded(pinned, now) {
		t.Error("a pinned message was forgotten")
	}
	unlimited := rule
	unlimited.MessageAge = 0
	if unlimited.Faded(age(90, memory.TypeMessage), now) {
		t.Error("without a limit of the age a fresh message was forgotten")
	}
}
