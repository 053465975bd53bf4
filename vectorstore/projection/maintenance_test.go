package projection

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap/zaptest"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/milvus/milvustest"
)

const grace = time.Minute

func (b *fixture) maintenance() *Maintenance {
	return NewMaintenance(b.store, b.vectors.Store, b.Projection, b.clock.Now, zaptest.NewLogger(b.t))
}

// onBoth runs a test on two vector stores. drop deletes the store's data without
// its knowledge and returns the store that is open afterwards.
func onBoth(t *testing.T, test func(t *testing.T, b *fixture, drop func() vectorstore.Store)) {
	t.Run("sqlitevec", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "vectors.db")
		b := newFixtureOn(t, apptest.VectorFile(t, path, space))
		test(t, b, func() vectorstore.Store {
			if err := b.vectors.Store.Close(); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(path + suffix); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			return apptest.VectorFile(t, path, space)
		})
	})
	t.Run("milvus", func(t *testing.T) {
		t.Parallel()
		o := milvus.Options{
			Addr: milvustest.Addr(t), Collection: milvustest.Collection(t), Space: space,
			Partitions: milvustest.Partitions, Timeout: time.Minute,
		}
		vectors, err := milvus.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = vectors.Close() })
		test(t, newFixtureOn(t, vectors), func() vectorstore.Store {
			milvustest.Drop(t, o.Collection)
			return vectors
		})
	})
}

func (b *fixture) verify(u *Maintenance) Report {
	b.t.Helper()
	report, err := u.Verify(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return report
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRepair_FindsAndRepairsAllDrift(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *fixture, _ func() vectorstore.Store) {
		u := b.maintenance()
		m := b.insert(8)
		b.PushNew(t.Context(), m)
		m[1].Status = memory.Forgotten
		m[1] = b.update(m[1])
		b.Push(t.Context(), []string{m[1].ID})
		if r := b.verify(u); r.Checked != 0 || r.InFlight != 8 || r.Drift() != 0 {
			t.Errorf("right after the pushes: %+v", r)
		}
		b.clock.Advance(time.Hour)
		if r := b.verify(u); r.Checked != 8 || r.InFlight != 0 || r.Drift() != 0 {
			t.Errorf("equal stores: %+v", r)
		}

		changed := func(i int, change func(*vectorstore.Record)) vectorstore.Record {
			r := vectorstore.RecordOf(m[i])
			change(&r)
			return r
		}
		stray, foreign := vectorstore.RecordOf(m[0]), vectorstore.RecordOf(m[0])
		stray.ID, foreign.ID = memory.NewID(), "not ours"
		must(t, b.vectors.Store.Delete(t.Context(), []string{m[0].ID}))
		must(t, b.vectors.Store.Replace(t.Context(), []vectorstore.Record{
			changed(1, func(*vectorstore.Record) {}), // the record of a forgotten memory
			changed(2, func(r *vectorstore.Record) { r.Content = "something else" }),
			changed(3, func(r *vectorstore.Record) { r.UserID = "bob" }),
			changed(4, func(r *vectorstore.Record) { r.AgentID = "amy" }),
			changed(5, func(r *vectorstore.Record) { r.Domain = memory.Tasks }),
			changed(6, func(r *vectorstore.Record) { r.Type = "task" }),
			stray, foreign,
		}))
		orphans := []string{m[1].ID, stray.ID, foreign.ID}
		slices.Sort(orphans)
		want := Report{
			At: b.clock.Now(), Checked: 8,
			Missing:   Findings{1, []string{m[0].ID}},
			Orphaned:  Findings{3, orphans},
			Different: Findings{5, []string{m[2].ID, m[3].ID, m[4].ID, m[5].ID, m[6].ID}},
			Future:    Findings{IDs: []string{}},
		}
		if diff := cmp.Diff(want, b.verify(u)); diff != "" {
			t.Errorf("drift (-want +got):\n%s", diff)
		}
		repaired, err := u.Repair(t.Context())
		must(t, err)
		if diff := cmp.Diff(Repaired{want, 7, 2}, repaired); diff != "" {
			t.Errorf("repair (-want +got):\n%s", diff)
		}
		if last, ok := u.Last(); !ok || last.Drift() != 9 {
			t.Errorf("the last verification: %+v, %t", last, ok)
		}
		b.clock.Advance(2 * grace)
		if r := b.verify(u); r.Checked != 8 || r.Drift() != 0 {
			t.Errorf("after the repair: %+v", r)
		}
	})
}

// moving is a store that calls during before a scan.
type moving struct {
	vectorstore.Store
	during func()
}

func (m *moving) Scan(ctx context.Context, after string, limit int, f func(vectorstore.Record) error) error {
	if during := m.during; during != nil {
		m.during = nil
		during()
	}
	return m.Store.Scan(ctx, after, limit, f)
}

func TestVerify_IgnoresConcurrentChanges(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	m := b.insert(4)
	b.PushNew(t.Context(), m)
	b.clock.Advance(time.Hour)
	u := b.maintenance()
	u.vectors = &moving{b.vectors.Store, func() { // after the rows were read
		m[0].Content = "changed"
		m[1].Status = memory.Forgotten
		m[0], m[1] = b.update(m[0]), b.update(m[1])
		b.Push(t.Context(), []string{m[0].ID, m[1].ID})
		b.PushNew(t.Context(), b.insert(1))
	}}
	if r := b.verify(u); r.Drift() != 0 || r.Checked != 2 || r.InFlight != 3 {
		t.Errorf("%+v", r)
	}
}

// Memories with times of a clock that was ahead are named, although the stores do not differ.
func TestVerify_NamesTimesInTheFuture(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.PushNew(t.Context(), b.insert(1))
	b.clock.Advance(30 * 24 * time.Hour)
	ahead := b.insert(2)
	b.PushNew(t.Context(), ahead)
	b.clock.Advance(-30*24*time.Hour + time.Hour)
	r := b.verify(b.maintenance())
	want := []string{ahead[0].ID, ahead[1].ID}
	if r.Future.Count != 2 || !slices.Equal(r.Future.IDs, want) || r.Drift() != 0 {
		t.Errorf("got %+v, want %v in the future", r, want)
	}
}

// Windows cover all ids even if rows and records are unevenly distributed.
func TestVerify_CoversAllWindows(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	const n = windowSize + 30
	u := b.maintenance()
	m := b.insert(n)
	b.PushNew(t.Context(), m)
	b.clock.Advance(time.Hour)
	lone := m[n-110:]
	must(t, b.vectors.Store.Delete(t.Context(), ids(asTasks(lone))))
	strays := make([]vectorstore.Record, n)
	for i := range strays {
		strays[i] = vectorstore.RecordOf(m[i])
		strays[i].ID = fmt.Sprintf("%08d", i) // smaller than all other ids
		if i%2 == 0 {
			strays[i].ID = m[i].ID[:28] + fmt.Sprintf("~%07d", i) // between them
		}
	}
	must(t, b.vectors.Store.Insert(t.Context(), strays))
	r := b.verify(u)
	if r.Checked != n || r.Missing.Count != len(lone) || r.Orphaned.Count != len(strays) || len(r.Missing.IDs) != 100 {
		t.Errorf("checked %d, missing %d, orphaned %d of %d", r.Checked, r.Missing.Count, r.Orphaned.Count, len(strays))
	}
	if _, err := u.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(2 * grace)
	if b.verify(u).Drift() != 0 {
		t.Error("there is drift after the repair")
	}
}

func asTasks(memories []memory.Memory) []db.VectorTask {
	tasks := make([]db.VectorTask, len(memories))
	for i, m := range memories {
		tasks[i].Memory = m
	}
	return tasks
}
