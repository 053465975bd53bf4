package recall

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// counted counts how often the documents are read.
type counted struct {
	Records
	documents int
}

func (c *counted) RevisionDocumentsAndUnconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) (db.OwnerDocuments, error) {
	c.documents++
	return c.Records.RevisionDocumentsAndUnconfirmed(ctx, owner, since, limit)
}

// What is known of a user is kept until a memory changes, whoever changes it;
// a touch is no change, and another user's are none.
func TestAnIndexIsKeptUntilAChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	records := &counted{Records: b.store}
	b.records = records
	sky := b.add("The sky is green here", nil, true)
	reads := func(want int, what string) {
		t.Helper()
		b.recall(Query{Owner: ada, Text: "sky"})
		if records.documents != want {
			t.Errorf("%s: the documents were read %d times, not %d", what, records.documents, want)
		}
	}
	reads(1, "at first")
	reads(1, "again")
	if err := b.store.Touch(t.Context(), []db.Touch{{ID: sky.ID, Count: 1, At: b.now}}); err != nil {
		t.Fatal(err)
	}
	reads(1, "after a touch")
	b.add("Bob's sky is red", func(m *memory.Memory) { m.Owner = bob }, true)
	reads(1, "after another's write")
	b.add("The sky was blue", nil, true)
	reads(2, "after a write")
	expect(t, b.recall(Query{Owner: ada, Text: "blue sky", Limit: 1}), "The sky was blue")
	b.Purge()
	reads(3, "when everything was dropped")
}

// Leaving out who has no hope never changes an answer, whatever the times of
// the last accesses turn out to be.
func TestOnlyTheHopelessAreLeftOut(t *testing.T) {
	t.Parallel()
	s := &Service{set: Settings{DecayRate: 0.99}}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Float64Range(0, 1)
		n := rapid.IntRange(1, 40).Draw(t, "candidates")
		x := &index{docs: make([]document, n)}
		accessed := make([]time.Time, n)
		var found []relevant
		for i := range n {
			x.docs[i].importance = unit.Draw(t, "importance")
			accessed[i] = now.Add(-time.Duration(rapid.Int64Range(-3600, 90*24*3600).Draw(t, "seconds ago")) * time.Second)
			c := candidate{id: string(rune('a' + i)), doc: i}
			found = append(found, relevant{candidate: c, relevance: unit.Draw(t, "relevance")})
		}
		q := Query{
			Limit: rapid.IntRange(1, 12).Draw(t, "limit"), Mode: rapid.SampledFrom(Modes).Draw(t, "mode"),
			Weights: &Weights{unit.Draw(t, "alpha"), unit.Draw(t, "beta"), unit.Draw(t, "gamma")},
		}
		first := func(list []relevant) []string {
			var ranked []scored
			for _, c := range list {
				score := Score(q.Mode, *q.Weights, c.relevance, Decay(s.set.DecayRate, accessed[c.doc], now), x.docs[c.doc].importance)
				ranked = append(ranked, scored{relevant: &c, score: score})
			}
			sortByScore(ranked)
			var ids []string
			for _, r := range ranked[:min(q.Limit, len(ranked))] {
				ids = append(ids, r.id)
			}
			return ids
		}
		want := first(found)
		kept, _ := prune(q, x, found)
		if got := first(kept); !slices.Equal(got, want) {
			t.Fatalf("the first are %v, not %v", got, want)
		}
	})
}

// reading counts the reads of rows, and may lose some.
type reading struct {
	Records
	reads int
	lose  func(read int, m memory.Memory) bool
}

func (r *reading) Recalled(ctx context.Context, owner memory.Owner, whole, rest []string, since time.Time) (db.Recalled, error) {
	r.reads++
	read, err := r.Records.Recalled(ctx, owner, whole, rest, since)
	if r.lose != nil {
		read.Whole = slices.DeleteFunc(read.Whole, func(m memory.Memory) bool { return r.lose(r.reads, m) })
	}
	return read, err
}

// sameAge adds memories that differ in their ids alone, in that order.
func (b *bench) sameAge(n int) (ids []string) {
	for range n {
		ids = append(ids, b.add("Ada keeps bees", func(m *memory.Memory) { m.LastAccessedAt = begin.AddDate(0, -3, 0) }, true).ID)
	}
	slices.Sort(ids)
	return ids
}

func (b *bench) touch(ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		if err := b.store.Touch(b.t.Context(), []db.Touch{{ID: id, Count: 1, At: b.now}}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// Another process touches memories that this one does not expect to be first:
// they are, and are read as a whole.
func TestAccessesThatWereNotSeenCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	records := &reading{Records: b.store}
	b.records = records
	ids := b.sameAge(30)
	recall := func(when string, wantReads int, want ...string) {
		t.Helper()
		records.reads = 0
		a := b.recall(Query{Text: "bees", Limit: 3, NoTouch: true})
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
	b.touch(ids[20], ids[25])
	recall("touched", 2, ids[20], ids[25], ids[0])
	recall("touched, and seen", 1, ids[20], ids[25], ids[0])
}

// Whoever goes while a recall is under way is left out, at each of its reads,
// and the next best moves up.
func TestWhoGoesMeanwhileIsReplaced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.sameAge(30)
	gone := map[int]string{}
	b.records = &reading{Records: b.store, lose: func(read int, m memory.Memory) bool { return gone[read] == m.ID }}
	recall := func(when string, want ...string) {
		t.Helper()
		b.records.(*reading).reads = 0
		if got := idsOf(b.recall(Query{Text: "bees", Limit: 3, NoTouch: true}).Memories); !slices.Equal(got, want) {
			t.Errorf("%s: recalled %v, not %v", when, got, want)
		}
	}
	gone[1] = ids[1]
	recall("at the first read", ids[0], ids[2], ids[3])
	b.touch(ids[20:25]...)
	gone = map[int]string{2: ids[20]}
	recall("at the second read", ids[21], ids[22], ids[23])
	gone = map[int]string{1: ids[21], 2: ids[23], 3: ids[24]}
	recall("at each", ids[20], ids[22], ids[0])
}

// Without hope is only who is worse than others that are there.
func TestTheHopelessMoveUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var ids []string
	for i := range 10 {
		ids = append(ids, b.add("Ada keeps bees", func(m *memory.Memory) {
			if m.Importance = 0; i < 3 {
				m.Importance = 1
			}
		}, true).ID)
	}
	records := &reading{Records: b.store, lose: func(_ int, m memory.Memory) bool { return m.ID == ids[0] }}
	b.records = records
	answer := b.recall(Query{Text: "bees", Limit: 3, NoTouch: true})
	if got, want := idsOf(answer.Memories), []string{ids[1], ids[2], ids[3]}; !slices.Equal(got, want) || answer.Memories[2].Memory.Content == "" {
		t.Errorf("recalled %v, not %v", got, want)
	}
}
