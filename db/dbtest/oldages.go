package dbtest

import (
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// oldAges checks what OldAges returns of alice's memories, whose ages are all.
func oldAges(t *testing.T, s db.Store, all map[string]db.Age) {
	t.Helper()
	for name, o := range map[string]db.Old{
		"none":     {},
		"all":      {Idle: [8]time.Time{after(99), 4: after(99), 7: after(99)}},
		"accessed": {Idle: [8]time.Time{4: after(24), 7: after(27)}},
		"one":      {Idle: [8]time.Time{4: after(23), 7: after(28)}},
		"messages": {Messages: after(5)},
	} {
		got, want := map[string]db.Age{}, map[string]db.Age{}
		must(t, s.OldAges(t.Context(), alice, o, func(id string, a db.Age) error {
			got[id] = a
			return nil
		}))
		for id, a := range all {
			idle := o.Idle[min(a.AccessCount, 7)]
			if !a.UpdatedAt.After(idle) && !a.LastAccessedAt.After(idle) ||
				a.Type == memory.TypeMessage && !a.CreatedAt.After(o.Messages) {
				want[id] = a
			}
		}
		wantSame(t, "old ages: "+name, got, want)
	}
}
