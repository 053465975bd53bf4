package recall

import (
	"context"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// lossyRecords counts the reads of rows, and omits rows from them.
type lossyRecords struct {
	Records
	reads int
	lose  func(read int, m memory.Memory) bool
}

func (l *lossyRecords) Recalled(
	ctx context.Context, owner memory.Owner, whole, rest []string,
) (db.Recalled, error) {
	l.reads++
	read, err := l.Records.Recalled(ctx, owner, whole, rest)
	if l.lose != nil {
		read.Whole = slices.DeleteFunc(read.Whole, func(m memory.Memory) bool { return l.lose(l.reads, m) })
	}
	return read, err
}

// sameAge adds memories that differ only in their ids, and returns the ids in order.
func (f *fixture) sameAge(n int) (ids []string) {
	for range n {
		m := f.add("Ada keeps bees", func(m *memory.Memory) { m.LastAccessedAt = begin.AddDate(0, -3, 0) }, true)
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

func (f *fixture) touch(ids ...string) {
	f.t.Helper()
	for _, id := range ids {
		if err := f.store.Touch(f.t.Context(), []db.Touch{{Owner: ada, ID: id, Count: 1, At: f.now}}); err != nil {
			f.t.Fatal(err)
		}
	}
}

// Another process touches memories that this process does not expect to be
// first: they are first, and their whole rows are read.
func TestHydrate_CountsAccessesOfOtherProcesses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	records := &lossyRecords{Records: f.store}
	f.records = records
	ids := f.sameAge(30)
	recall := func(when string, wantReads int, want ...string) {
		t.Helper()
		records.reads = 0
		a := f.recall(Query{Text: "bees", Limit: 3, NoTouch: true})
		if got := idsOf(a.Memories); !slices.Equal(got, want) || records.reads != wantReads {
			t.Errorf("%s: %d reads brought %v, not %d and %v", when, records.reads, got, wantReads, want)
		}
		for _, r := range a.Memories {
			if r.Memory.Content != "Ada keeps bees" {
				t.Errorf("%s: recalled %+v", when, r)
			}
		}
	}
	recall("untouched", 1, ids[:3]...)
	f.touch(ids[20], ids[25])
	recall("touched", 2, ids[20], ids[25], ids[0])
	recall("touched, and known", 1, ids[20], ids[25], ids[0])
}

// A memory that vanishes before any read of a recall is dropped, and the next
// best moves up.
func TestHydrate_ReplacesMemoriesThatVanishDuringARecall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := f.sameAge(30)
	gone := map[int]string{}
	f.records = &lossyRecords{
		Records: f.store, lose: func(read int, m memory.Memory) bool { return gone[read] == m.ID },
	}
	recall := func(when string, want ...string) {
		t.Helper()
		f.records.(*lossyRecords).reads = 0
		// The query is about the past, so that no update of the first memory is looked for, and no more rows than the limit
		// are read.
		if got := idsOf(f.recall(Query{Text: "had bees", Limit: 3, NoTouch: true}).Memories); !slices.Equal(got, want) {
			t.Errorf("%s: recalled %v, not %v", when, got, want)
		}
	}
	gone[1] = ids[1]
	recall("at the first read", ids[0], ids[2], ids[3])
	f.touch(ids[20:25]...)
	gone = map[int]string{2: ids[20]}
	recall("at the second read", ids[21], ids[22], ids[23])
	gone = map[int]string{1: ids[21], 2: ids[23], 3: ids[24]}
	recall("at each", ids[20], ids[22], ids[0])
}

// A pruned memory is recalled if better ones have vanished.
func TestHydrate_MovesPrunedMemoriesUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ids []string
	for i := range 10 {
		ids = append(ids, f.add("Ada keeps bees", func(m *memory.Memory) {
			m.Importance = 0
			if i < 3 {
				m.Importance = 1
			}
		}, true).ID)
	}
	f.records = &lossyRecords{Records: f.store, lose: func(_ int, m memory.Memory) bool { return m.ID == ids[0] }}
	answer := f.recall(Query{Text: "bees", Limit: 3, NoTouch: true})
	want := []string{ids[1], ids[2], ids[3]}
	if got := idsOf(answer.Memories); !slices.Equal(got, want) || answer.Memories[2].Memory.Content == "" {
		t.Errorf("recalled %v, not %v", got, want)
	}
}
