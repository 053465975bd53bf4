package recall

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

var (
	defaults   = Weights{Relevance: 0.5, Decay: 0.2, Importance: 0.3}
	lift       = Lift{Near: 0.5, Far: 0.2}
	cueWeights = Cues{Speaker: 0.2, Date: 0.2, When: 0.1, Route: 0.05, Question: 0.5}
	ranking    = Settings{
		Lift: lift, Cues: cueWeights, LexicalFloor: 0.3, Words: 0.5, Contrast: 3, BM25: BM25{K1: 1.2, B: 0.4},
		Candidates: 50,
	}
)

// The golden file was computed by hand, part by part, for both modes.
func TestRank_MatchesAHandComputedExample(t *testing.T) {
	t.Parallel()
	var golden struct {
		Candidates []struct {
			ID, Conversation                   string
			Cosine, Lexical, Hours, Importance float64
			Neighbour, Relevance, Decay        float64
			Modulated, Additive                float64
		}
		Modulated, Additive []string
	}
	data, err := os.ReadFile("testdata/rank.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var docs []db.Document
	var found []candidate
	for i, c := range golden.Candidates {
		docs = append(docs, db.Document{ID: c.ID, ConversationID: c.Conversation})
		found = append(found, candidate{id: c.ID, doc: i, cosine: c.Cosine, lexical: c.Lexical, compared: true})
	}
	fused := unite(fuse(found, newIndex(0, docs), &ranking, queryCues{}, nil), newIndex(0, docs), false, nil)
	ranked := map[Mode][]scored{}
	for i, c := range golden.Candidates {
		approx(t, c.ID+" neighbour", fused[i].neighbour, c.Neighbour)
		approx(t, c.ID+" relevance", fused[i].relevance, c.Relevance)
		decay := Decay(0.99, now.Add(-time.Duration(c.Hours*float64(time.Hour))), now)
		approx(t, c.ID+" decay", decay, c.Decay)
		for mode, want := range map[Mode]float64{Modulated: c.Modulated, Additive: c.Additive} {
			score := Score(mode, defaults, fused[i].relevance, decay, c.Importance)
			approx(t, c.ID+" "+string(mode), score, want)
			ranked[mode] = append(ranked[mode], scored{relevant: &fused[i], score: score})
		}
	}
	for mode, want := range map[Mode][]string{Modulated: golden.Modulated, Additive: golden.Additive} {
		sortByScore(ranked[mode])
		var got []string
		for _, r := range ranked[mode] {
			got = append(got, r.id[len(r.id)-1:])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s order %v, want %v", mode, got, want)
		}
	}
}

func approx(t rapid.TB, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-8 {
		t.Errorf("%s = %.10f, want %.10f", what, got, want)
	}
}

func TestScore_IsMonotoneAndBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Float64Range(0, 1)
		w := Weights{unit.Draw(t, "alpha"), unit.Draw(t, "beta"), unit.Draw(t, "gamma")}
		mode := rapid.SampledFrom(Modes).Draw(t, "mode")
		low := [3]float64{unit.Draw(t, "relevance"), unit.Draw(t, "decay"), unit.Draw(t, "importance")}
		score := Score(mode, w, low[0], low[1], low[2])
		if limit := w.Relevance + w.Decay + w.Importance; score < 0 || score > limit+1e-12 {
			t.Fatalf("score %v is not within 0..%v", score, limit)
		}
		for part := range low {
			high := low
			high[part] = rapid.Float64Range(low[part], 1).Draw(t, "raised")
			if raised := Score(mode, w, high[0], high[1], high[2]); raised < score {
				t.Fatalf("raising part %d from %v to %v lowered the score from %v to %v",
					part, low[part], high[part], score, raised)
			}
		}
	})
}

func TestDecay_FallsWithTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	approx(t, "now", Decay(0.99, now, now), 1)
	approx(t, "one hour", Decay(0.99, now.Add(-time.Hour), now), 0.99)
	approx(t, "in the future", Decay(0.99, now.Add(time.Hour), now), 1)
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.01, 1).Draw(t, "rate")
		a := rapid.Int64Range(0, int64(1000*24*time.Hour)).Draw(t, "younger")
		b := rapid.Int64Range(a, int64(2000*24*time.Hour)).Draw(t, "older")
		young, old := Decay(rate, now.Add(-time.Duration(a)), now), Decay(rate, now.Add(-time.Duration(b)), now)
		if old > young || old < 0 || young > 1 {
			t.Fatalf("decay %v after %v, %v after %v", young, time.Duration(a), old, time.Duration(b))
		}
	})
}

// Pruning never changes an answer, whatever the last accesses are.
func TestPrune_ChangesNoAnswer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Float64Range(0, 1)
		n := rapid.IntRange(1, 40).Draw(t, "candidates")
		x := &index{docs: make([]document, n), kinds: []kind{{Type: memory.TypeFact}, {Type: memory.TypeReflection}}}
		accessed := make([]time.Time, n)
		var found []relevant
		for i := range n {
			x.docs[i].importance = unit.Draw(t, "importance")
			x.docs[i].kind = rapid.Uint32Range(0, 1).Draw(t, "kind")
			seconds := rapid.Int64Range(-3600, 90*24*3600).Draw(t, "seconds ago")
			accessed[i] = now.Add(-time.Duration(seconds) * time.Second)
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
				decay := Decay(0.99, accessed[c.doc], now)
				score := Score(q.Mode, *q.Weights, c.relevance, decay, x.counted(c.doc, x.docs[c.doc].importance))
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

func TestSortByScore_BreaksTiesByID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{4}`), 2, 20, rapid.ID[string]).Draw(t, "ids")
		var found []scored
		for _, id := range ids {
			score := float64(rapid.IntRange(0, 2).Draw(t, "score"))
			found = append(found, scored{relevant: &relevant{candidate: candidate{id: id}}, score: score})
		}
		sortByScore(found)
		for i := 1; i < len(found); i++ {
			a, b := found[i-1], found[i]
			if a.score < b.score || a.score == b.score && a.id >= b.id {
				t.Fatalf("%v %s is before %v %s", a.score, a.id, b.score, b.id)
			}
		}
	})
}

// What was said is before what was inferred if both are as relevant, whichever is more important.
func TestRecall_PutsWhatWasSaidBeforeWhatWasInferred(t *testing.T) {
	t.Parallel()
	statements := []string{"The user swims on Mondays.", "The user swims on Tuesdays."}
	for _, inferred := range []memory.Type{memory.TypeReflection, "insight"} {
		for said := range statements {
			f := newFixture(t)
			add := func(place int, as memory.Type, importance float64) memory.Memory {
				return f.add(statements[place], func(m *memory.Memory) { m.Type, m.Importance = as, importance }, true)
			}
			fact := add(said, memory.TypeFact, 0.6)
			add(1-said, inferred, 0.9)
			if a := f.recall(Query{Text: "When does the user swim?"}); a.Memories[0].Memory.ID != fact.ID {
				t.Errorf("%q is first, of type %s", a.Memories[0].Memory.Content, inferred)
			}
		}
	}
}
