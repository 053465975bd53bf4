package forgetting

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// chosen reports whether the database returns a memory of the age.
func chosen(o db.Old, a db.Age) bool {
	last := idleSince(a)
	return !last.After(o.Idle[min(a.AccessCount, len(o.Idle)-1)]) ||
		a.Type == memory.TypeMessage && !a.CreatedAt.After(o.Messages)
}

func TestOld_ChoosesAllThatHasFaded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]Rule{strengthening, exponential}).Draw(t, "rule")
		rule.Threshold = rapid.Float64Range(0, 1).Draw(t, "threshold")
		rule.Lasts = rapid.SampledFrom([]memory.Factors{"", "fact=0.01,general_chat=0.5", "message=99"}).Draw(t, "lasts")
		rule.MessageAge = rapid.SampledFrom([]time.Duration{0, 30 * 24 * time.Hour}).Draw(t, "message age")
		ago := func(name string) time.Time {
			return begin.Add(-time.Duration(rapid.Int64Range(-1e15, 9e15).Draw(t, name)) * time.Microsecond)
		}
		a := db.Age{
			CreatedAt: ago("created"), UpdatedAt: ago("updated"), LastAccessedAt: ago("accessed"),
			AccessCount: rapid.IntRange(0, 30).Draw(t, "accesses"),
			Importance:  rapid.Float64Range(0, 1).Draw(t, "importance"),
			Type:        rapid.SampledFrom([]memory.Type{memory.TypeFact, memory.TypeMessage}).Draw(t, "type"),
			Domain:      rapid.SampledFrom(memory.Domains).Draw(t, "domain"),
		}
		if fades, never := rule.FadesAt(a); !never && rapid.Bool().Draw(t, "at the edge") {
			a.UpdatedAt = a.UpdatedAt.Add(begin.Sub(fades))
			a.LastAccessedAt = a.LastAccessedAt.Add(begin.Sub(fades))
		}
		if rule.Faded(a, begin) && !chosen(rule.old(begin), a) {
			t.Fatalf("%+v has faded and is not chosen by %+v", a, rule.old(begin))
		}
	})
}

func TestOld_LeavesOutWhatCannotHaveFaded(t *testing.T) {
	t.Parallel()
	for accesses, days := range []int{15, 22, 34, 51} { // importance 0 fades after 15.3, 22.9, 34.4 and 51.6 days
		at := begin.AddDate(0, 0, -days)
		if a := (db.Age{UpdatedAt: at, LastAccessedAt: at, AccessCount: accesses}); chosen(strengthening.old(begin), a) {
			t.Errorf("a memory with %d accesses, idle for %d days, is chosen", accesses, days)
		}
	}
}

func TestSoonest_KeepsTheFirstToFade(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kept := soonest{most: rapid.IntRange(1, 5).Draw(t, "most")}
		all := soonest{}
		for i := range rapid.IntRange(0, 60).Draw(t, "memories") {
			f := aged{id: fmt.Sprintf("%02d", i)}
			if days := rapid.IntRange(0, 9).Draw(t, "days"); days > 0 { // otherwise it never fades
				f.FadesAt = begin.AddDate(0, 0, days)
			}
			kept.add(f)
			all.add(f)
		}
		want := all.sorted()
		if got := kept.sorted(); !slices.Equal(got, want[:min(kept.most, len(want))]) {
			t.Fatalf("the first %d are %v of %v", kept.most, got, want)
		}
	})
}

// fullReads counts the reads of all ages of a user.
type fullReads struct {
	Records
	n int
}

func (r *fullReads) OwnerAges(ctx context.Context, owner memory.Owner, f func(string, db.Age) error) error {
	r.n++
	return r.Records.OwnerAges(ctx, owner, f)
}

// The counts of the next run, its preview and the run itself agree, and only a preview that lists memories reads all.
func TestDue_EqualsThePreviewAndTheRun(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	reads := &fullReads{Records: b.records}
	b.Service.records = reads
	for i := range 40 {
		b.add(2, 2*i, func(m *memory.Memory) {
			m.Importance, m.AccessCount, m.Pinned = float64(i%5)/4, i%3, i%7 == 0
		})
	}
	due, err := b.Due(t.Context(), ada, begin)
	if err != nil {
		t.Fatal(err)
	}
	if reads.n != 0 || due.Active != 80 || due.Faded == 0 {
		t.Errorf("%+v after %d reads of all ages", due, reads.n)
	}
	preview, err := b.Preview(t.Context(), ada, begin, b.Rule(), Listing{Limit: 80})
	if err != nil {
		t.Fatal(err)
	}
	if preview.Active != due.Active || preview.Due != due.Faded || reads.n != 1 {
		t.Errorf("the preview has %d of %d, the counts are %+v", preview.Due, preview.Active, due)
	}
	var listed []aged
	for _, l := range preview.Listed {
		listed = append(listed, aged{l.Fading, l.Memory.ID})
	}
	if len(listed) != 80 || !slices.IsSortedFunc(listed, func(a, b aged) int { return compareFading(&a, &b) }) {
		t.Errorf("%d are listed, or not the first to fade first", len(listed))
	}
	ran, err := b.Run(t.Context(), ada, "test", true, Listing{})
	if err != nil {
		t.Fatal(err)
	}
	if ran.Active != due.Active || ran.Due != due.Faded || len(ran.Forgotten) != due.Faded || reads.n != 1 {
		t.Errorf("the run forgot %d of %d, the counts are %+v", len(ran.Forgotten), ran.Active, due)
	}
}
