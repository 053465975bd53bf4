package forgetting

import (
	"math"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func TestOutlook_MeetsTheThresholdAtTheDateOfFading(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rules := map[string]Rule{
		"strengthening": {Policy: Strengthening, Threshold: 0.1, Base: 0.9, Growth: 1.5},
		"exponential":   {Policy: Exponential, Threshold: 0.1, Lambda: 0.03},
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			age := db.Age{
				CreatedAt: at.AddDate(0, 0, -9), LastAccessedAt: at.AddDate(0, 0, -2), AccessCount: 2, Importance: 0.6,
			}
			o := rule.Outlook(age, at)
			if o.Exempt || !o.Left.FadesAt.Before(o.Accessed.FadesAt) {
				t.Errorf("an access moves the date of fading from %v to %v", o.Left.FadesAt, o.Accessed.FadesAt)
			}
			for what, course := range map[string]Course{"left": o.Left, "accessed": o.Accessed} {
				first, last := course.Points[0], course.Points[outlookPoints-1]
				if !first.At.Equal(at) || !last.At.After(course.FadesAt) || last.Retention >= rule.Threshold {
					t.Errorf("%s: from %v to %v, which fades at %v", what, first, last, course.FadesAt)
				}
				for i, p := range course.Points[1:] {
					if before := course.Points[i]; p.Retention > before.Retention {
						t.Errorf("%s: the retention grows from %v to %v", what, before, p)
					}
					if faded := p.At.After(course.FadesAt); faded != (p.Retention < rule.Threshold) {
						t.Errorf("%s: the retention at %v is %v, and it fades at %v", what, p.At, p.Retention, course.FadesAt)
					}
				}
			}
			if got, want := o.Left.Points[0].Retention, rule.Retention(age, at); math.Abs(got-want) > 1e-12 {
				t.Errorf("the retention now is %v, want %v", got, want)
			}
		})
	}
}

func TestOutlook_CoversABoundedTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rule := Rule{Policy: Strengthening, Threshold: 0.1, Base: 0.9, Growth: 1.5}
	for name, c := range map[string]struct {
		age  db.Age
		want time.Duration
	}{
		"faded long ago, and soon even when accessed": {
			db.Age{CreatedAt: at.AddDate(-9, 0, 0), LastAccessedAt: at.AddDate(-9, 0, 0), Importance: 0}, 0,
		},
		"accessed often": {db.Age{CreatedAt: at, LastAccessedAt: at, AccessCount: 16, Importance: 1}, longestHorizon},
		"exempt":         {db.Age{CreatedAt: at, LastAccessedAt: at, Pinned: true}, horizonOfNoFades},
		"reflection":     {db.Age{CreatedAt: at, LastAccessedAt: at, Type: memory.TypeReflection}, horizonOfNoFades},
	} {
		o := rule.Outlook(c.age, at)
		got := o.Left.Points[outlookPoints-1].At.Sub(at)
		if got > longestHorizon || got < shortestHorizon-time.Minute || c.want > 0 && (got-c.want).Abs() > time.Minute {
			t.Errorf("%s: it covers %v, want %v", name, got, c.want)
		}
		if o.Exempt != Exempt(c.age) || o.Exempt != o.Left.FadesAt.IsZero() && name != "accessed often" {
			t.Errorf("%s: exempt %v, fades at %v", name, o.Exempt, o.Left.FadesAt)
		}
	}
}
