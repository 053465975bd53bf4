package recall

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// supersede makes a memory superseded by another one.
func (f *fixture) supersede(former, by memory.Memory) {
	f.t.Helper()
	former.Status, former.SupersededBy = memory.Superseded, by.ID
	former.Revision++
	if err := f.store.InUser(f.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		return tx.Update(ctx, former)
	}); err != nil {
		f.t.Fatal(err)
	}
}

// A former statement ranks below what superseded it, even if it has more words of the query, is more important, was
// accessed later and a reranking model prefers it.
func TestFormer_RanksBelowItsSuccessor(t *testing.T) {
	t.Parallel()
	const query = "Which company does the user work for?"
	for _, mode := range Modes {
		for name, model := range map[string]*fakeReranker{
			"no reranker": nil, "a reranker": {order: []string{"Maersk", "Porto", "DHL"}},
		} {
			f := newFixture(t)
			if model != nil {
				f.set.Rerank = Rerank{Model: model, Candidates: 10, Share: 0.9, Timeout: time.Minute}
			}
			former := f.add("The company that the user works for is Maersk", func(m *memory.Memory) {
				m.Importance = 1
				m.LastAccessedAt = begin
			}, true)
			present := f.add("First week at DHL", func(m *memory.Memory) {
				m.Importance = 0.2
				m.LastAccessedAt = begin.Add(-90 * 24 * time.Hour)
				m.CreatedAt = begin.Add(-time.Minute)
			}, true)
			f.add("The user flies to Porto", nil, true)
			f.supersede(former, present)
			got := f.recall(Query{Text: query, Mode: mode, IncludeFormer: true, Explain: true, NoTouch: true}).Memories
			places := map[string]int{}
			for i, r := range got {
				places[r.Memory.ID] = i
				p := r.Parts
				sum := p.Similarity + p.Lexical + p.Neighbour + p.Message + p.Rerank + p.Decay + p.Importance
				if math.Abs(sum-r.Score) > 1e-9 {
					t.Errorf("%s, %s: the parts of %q add up to %g, not %g", mode, name, r.Memory.Content, sum, r.Score)
				}
			}
			if len(got) != 3 || places[former.ID] < places[present.ID] {
				t.Fatalf("%s, %s: recalled %q", mode, name, contents(Answer{Memories: got}))
			}
			first, second := got[places[present.ID]], got[places[former.ID]]
			if !first.FormerUntil.IsZero() || !second.FormerUntil.Equal(present.CreatedAt) ||
				!slices.Contains(second.Sources, nameFormer) {
				t.Errorf("%s, %s: former until %v and %v, found by %q",
					mode, name, first.FormerUntil, second.FormerUntil, second.Sources)
			}
			expect(t, f.recall(Query{Text: query, Mode: mode, NoTouch: true}), present.Content, "The user flies to Porto")
		}
	}
}

// A query about the past changes neither the cached index nor its later revisions.
func TestFormer_LeavesTheCachedIndex(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	former := f.addFact("The user works for Maersk", f.addMessage("I work for Maersk"))
	present := f.add("The user works for DHL", nil, true)
	f.supersede(former, present)
	want := []string{present.Content}
	for _, added := range []string{"The user likes bees", "The user likes wasps"} {
		expect(t, f.recall(Query{Text: "Who did the user work for before?", NoTouch: true}),
			append([]string{former.Content}, want...)...)
		expect(t, f.recall(Query{Text: "Who does the user work for?", NoTouch: true}), slices.Clone(want)...)
		f.add(added, nil, true)
		want = append(want, added)
	}
}
