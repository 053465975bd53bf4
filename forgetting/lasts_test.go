package forgetting

import (
	"math"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// After 30 days, a memory that lasts three times as long has the retention that others have after 10.
func TestRetention_LastsByTypeAndDomain(t *testing.T) {
	t.Parallel()
	for _, rule := range []Rule{strengthening, exponential} {
		lasting := rule
		lasting.Lasts = "task=1.5,general_chat=2,decision=0.5"
		for _, one := range []struct {
			kind   memory.Type
			domain memory.Domain
			days   float64
		}{
			{"task", memory.Tasks, 20}, {"task", memory.GeneralChat, 10}, {"fact", memory.GeneralChat, 15},
			{"decision", memory.Social, 60}, {"fact", memory.Social, 30},
		} {
			a := db.Age{CreatedAt: begin, LastAccessedAt: begin, Importance: 0.5, Type: one.kind, Domain: one.domain}
			got := lasting.Retention(a, begin.AddDate(0, 0, 30))
			want := rule.Retention(a, begin.Add(time.Duration(one.days*float64(aDay))))
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: a %s of %s has a retention of %v, want %v", rule.Policy, one.kind, one.domain, got, want)
			}
			fades, never := lasting.FadesAt(a)
			if never || lasting.Faded(a, fades.Add(-time.Hour)) || !lasting.Faded(a, fades.Add(time.Hour)) {
				t.Errorf("%s: a %s of %s does not fade at %v (never: %t)", rule.Policy, one.kind, one.domain, fades, never)
			}
		}
	}
}

func TestKeeps_ExcludedDomains(t *testing.T) {
	t.Parallel()
	rule := strengthening
	rule.ExcludeDomains = "tasks_and_schedules,social_and_relationships"
	for domain, kept := range map[memory.Domain]bool{memory.Tasks: true, memory.Social: true, memory.Lifestyle: false} {
		if got := rule.Keeps(db.Age{Type: memory.TypeFact, Domain: domain}); got != kept {
			t.Errorf("%s: kept is %t", domain, got)
		}
	}
}
