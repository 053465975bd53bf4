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
)

var (
	defaults   = Weights{Relevance: 0.5, Decay: 0.2, Importance: 0.3}
	lift       = Lift{Near: 0.5, Far: 0.2}
	cueWeights = Cues{Speaker: 0.2, Date: 0.2, When: 0.1, Question: 0.5}
	ranking    = Settings{Lift: lift, Cues: cueWeights, LexicalFloor: 0.3, Words: 0.5, Contrast: 3, BM25: BM25{K1: 1.2, B: 0.4}, Candidates: 50}
)

// The golden file is worked by hand, part by part, for both modes.
func TestRankingFollowsTheHandComputedExample(t *testing.T) {
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
	fused := fuse(found, newIndex(0, docs), &ranking, queryCues{})
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

func TestScoreIsMonotoneAndBounded(t *testing.T) {
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
				t.Fatalf("raising part %d from %v to %v lowered the score from %v to %v", part, low[part], high[part], score, raised)
			}
		}
	})
}

func TestDecayFallsWithTime(t *testing.T) {
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

// Fusion keeps relevance within 0..1, reaches 1 where there is any signal, and
// does not depend on the order of the candidates.
func TestFusionProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		docs := make([]db.Document, n)
		found := make([]candidate, n)
		for i := range docs {
			docs[i].ConversationID = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "conversation")
			found[i] = candidate{
				id: string(rune('a' + i)), doc: i, compared: rapid.Bool().Draw(t, "compared"),
				cosine: rapid.Float64Range(-1, 1).Draw(t, "cosine"), lexical: rapid.Float64Range(0, 1).Draw(t, "lexical"),
			}
		}
		fused := fuse(found, newIndex(0, docs), &ranking, queryCues{})
		highest, signal := 0.0, false
		for _, c := range fused {
			signal = signal || c.lexical > 0 || c.compared && c.cosine > 0
			if c.relevance < 0 || c.relevance > 1 || c.neighbour < 0 {
				t.Fatalf("relevance %v, neighbour %v", c.relevance, c.neighbour)
			}
			highest = max(highest, c.relevance)
		}
		if signal && highest != 1 {
			t.Fatalf("the best relevance is %v, not 1", highest)
		}
		slices.Reverse(found)
		turned := fuse(found, newIndex(0, docs), &ranking, queryCues{})
		slices.Reverse(turned)
		for i := range fused {
			if fused[i].relevance != turned[i].relevance {
				t.Fatalf("candidate %d: %v in one order, %v in the other", i, fused[i].relevance, turned[i].relevance)
			}
		}
	})
}

func TestTiesAreBrokenByID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{4}`), 2, 20, rapid.ID[string]).Draw(t, "ids")
		var found []scored
		for _, id := range ids {
			found = append(found, scored{relevant: &relevant{candidate: candidate{id: id}}, score: float64(rapid.IntRange(0, 2).Draw(t, "score"))})
		}
		sortByScore(found)
		for i := 1; i < len(found); i++ {
			a, b := found[i-1], found[i]
			if a.score < b.score || a.score == b.score && a.id >= b.id {
				t.Fatalf("%v %s stands before %v %s", a.score, a.id, b.score, b.id)
			}
		}
	})
}

// What has nothing to do with the query is not relevant, even when nothing is.
func TestNoSignalIsNoRelevance(t *testing.T) {
	t.Parallel()
	docs := make([]db.Document, 2)
	found := []candidate{{id: "a", doc: 0, compared: true}, {id: "b", doc: 1, compared: true}}
	fused := fuse(found, newIndex(0, docs), &ranking, queryCues{})
	if fused[0].relevance != 0 || fused[1].relevance != 0 {
		t.Errorf("relevance %v and %v", fused[0].relevance, fused[1].relevance)
	}
}

// Contrast sets candidates apart and keeps their order; a signal without a
// share says nothing.
func TestContrastAndShares(t *testing.T) {
	t.Parallel()
	docs := make([]db.Document, 3)
	of := func(words, contrast float64, signals ...[2]float64) (relevances []float64) {
		set := ranking
		set.Words, set.Contrast = words, contrast
		var found []candidate
		for i, s := range signals {
			found = append(found, candidate{id: string(rune('a' + i)), doc: i, cosine: s[0], lexical: s[1], compared: true})
		}
		for _, c := range fuse(found, newIndex(0, docs), &set, queryCues{}) {
			relevances = append(relevances, c.relevance)
		}
		return relevances
	}
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Float64Range(0, 1)
		signal := func(name string) [2]float64 {
			return [2]float64{unit.Draw(t, name+" cosine"), unit.Draw(t, name+" lexical")}
		}
		one, two, three := signal("one"), signal("two"), signal("three")
		words, contrast := unit.Draw(t, "words"), rapid.Float64Range(1, 10).Draw(t, "contrast")
		plain, apart := of(words, 1, one, two, three), of(words, contrast, one, two, three)
		for i := range plain {
			approx(t, "relevance", apart[i], math.Pow(plain[i], contrast))
			for j := range plain {
				if plain[i] < plain[j] && apart[i] > apart[j] {
					t.Fatalf("%v in the order %v", plain, apart)
				}
			}
		}
		silent := signal("another")
		if a, b := of(0, contrast, one, two, three), of(0, contrast, one, [2]float64{two[0], silent[1]}, three); !slices.Equal(a, b) {
			t.Fatalf("words without a share change %v to %v", a, b)
		}
		if a, b := of(1, contrast, one, two, three), of(1, contrast, one, [2]float64{silent[0], two[1]}, three); !slices.Equal(a, b) {
			t.Fatalf("vectors without a share change %v to %v", a, b)
		}
	})
}
