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

func (c *counted) Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error) {
	c.documents++
	return c.Records.Documents(ctx, owner)
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
	b.Drop()
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
		var found []candidate
		for i := range n {
			x.docs[i].Importance = unit.Draw(t, "importance")
			accessed[i] = now.Add(-time.Duration(rapid.Int64Range(-3600, 90*24*3600).Draw(t, "seconds ago")) * time.Second)
			found = append(found, candidate{id: string(rune('a' + i)), doc: i, relevance: unit.Draw(t, "relevance")})
		}
		q := Query{
			Limit: rapid.IntRange(1, 12).Draw(t, "limit"), Mode: rapid.SampledFrom(Modes).Draw(t, "mode"),
			Weights: &Weights{unit.Draw(t, "alpha"), unit.Draw(t, "beta"), unit.Draw(t, "gamma")},
		}
		first := func(list []candidate) []string {
			var ranked []Recalled
			for _, c := range list {
				score := Score(q.Mode, *q.Weights, c.relevance, Decay(s.set.DecayRate, accessed[c.doc], now), x.docs[c.doc].Importance)
				ranked = append(ranked, Recalled{Memory: memory.Memory{ID: c.id}, Score: score})
			}
			sortByScore(ranked)
			var ids []string
			for _, r := range ranked[:min(q.Limit, len(ranked))] {
				ids = append(ids, r.Memory.ID)
			}
			return ids
		}
		want := first(found)
		if got := first(s.hopeful(q, sight{index: x}, found)); !slices.Equal(got, want) {
			t.Fatalf("the first are %v, not %v", got, want)
		}
	})
}
