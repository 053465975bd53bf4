package vectortest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// tolerance is the greatest difference from a similarity in 64-bit arithmetic.
const tolerance = 1e-5

// testNearest compares top-k searches, filtered and not, with brute force.
func testNearest(t *testing.T, s vectorstore.Store) {
	const users, each = 4, 150
	r := rand.New(rand.NewPCG(1, 2))
	all := make(map[memory.Owner][]vectorstore.Record)
	var batch []vectorstore.Record
	app := memory.NewID()
	for u := range users {
		o := memory.Owner{AppID: app, UserID: string(rune('a' + u))}
		for range each {
			rec := record(o, randomUnit(r))
			rec.Domain = memory.Domains[r.IntN(len(memory.Domains))]
			all[o] = append(all[o], rec)
		}
		batch = append(batch, all[o]...)
	}
	must(t, s.Insert(t.Context(), batch))
	for o, records := range all {
		awaitIDs(t, s, around(o, axis(0, 1)), idsOf(records)...)
	}

	for range 40 {
		q := vectorstore.Query{
			Owner:     memory.Owner{AppID: app, UserID: string(rune('a' + r.IntN(users)))},
			Embedding: randomUnit(r), Limit: 1 + r.IntN(each+20),
		}
		if n := r.IntN(3); n > 0 {
			q.Domains = memory.Domains[n : n+2]
		}
		var want []vectorstore.Hit
		for _, rec := range all[q.Owner] {
			if len(q.Domains) == 0 || slices.Contains(q.Domains, rec.Domain) {
				want = append(want, vectorstore.Hit{ID: rec.ID, Similarity: cosine(q.Embedding, rec.Embedding)})
			}
		}
		slices.SortFunc(want, func(a, b vectorstore.Hit) int { return cmp.Compare(b.Similarity, a.Similarity) })
		want = want[:min(len(want), q.Limit)]
		checkNearest(t, search(t, s, q), want)
	}
}

// checkNearest compares hits in order. Hits whose similarities differ by less than
// the tolerance may be in any order.
func checkNearest(t *testing.T, got, want []vectorstore.Hit) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("found %d records, want %d", len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i].Similarity-want[i].Similarity) > tolerance {
			t.Fatalf("hit %d is %v, want %v", i, got[i], want[i])
		}
		if i > 0 && got[i].Similarity > got[i-1].Similarity {
			t.Fatalf("hit %d is more similar than the one before it", i)
		}
	}
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

// testScale checks that the similarity is 1 for the same direction, 0 for a right
// angle and -1 for the opposite direction.
func testScale(t *testing.T, s vectorstore.Store) {
	o := owner()
	same := record(o, axis(3, 1))
	right := record(o, axis(4, 1))
	opposite := record(o, axis(3, -1))
	must(t, s.Insert(t.Context(), []vectorstore.Record{opposite, right, same}))
	awaitIDs(t, s, around(o, axis(3, 1)), same.ID, right.ID, opposite.ID)
	checkNearest(t, search(t, s, around(o, axis(3, 1))), []vectorstore.Hit{
		{ID: same.ID, Similarity: 1}, {ID: right.ID, Similarity: 0}, {ID: opposite.ID, Similarity: -1},
	})
	for _, h := range search(t, s, around(o, randomUnit(rand.New(rand.NewPCG(3, 4))))) {
		if h.Similarity < -1 || h.Similarity > 1 {
			t.Errorf("the similarity %v is not in -1..1", h.Similarity)
		}
	}
}

// testTies checks that records of equal similarity are in id order.
func testTies(t *testing.T, s vectorstore.Store) {
	o := owner()
	var records []vectorstore.Record
	for range 20 {
		records = append(records, record(o, axis(5, 1)))
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	must(t, s.Insert(t.Context(), records))
	q := around(o, axis(5, 1))
	awaitIDs(t, s, q, idsOf(records)...)
	if got := ids(search(t, s, q)); !slices.IsSorted(got) {
		t.Errorf("equally similar records are not in id order: %q", got)
	}
}

// testMaxLimit searches with the largest limit.
func testMaxLimit(t *testing.T, s vectorstore.Store) {
	o := owner()
	rec := record(o, axis(0, 1))
	must(t, s.Insert(t.Context(), []vectorstore.Record{rec}))
	q := around(o, axis(0, 1))
	q.Limit = vectorstore.MaxLimit
	awaitIDs(t, s, q, rec.ID)
	if hits := search(t, s, around(owner(), axis(0, 1))); len(hits) != 0 {
		t.Errorf("a user without records has %v", hits)
	}
}

// testFilters checks each filter by itself, and all at once.
func testFilters(t *testing.T, s vectorstore.Store) {
	o := owner()
	at := time.UnixMilli(1_700_000_000_500).UTC()
	with := func(change func(*vectorstore.Record)) vectorstore.Record {
		rec := record(o, axis(1, 1))
		rec.CreatedAt = at
		change(&rec)
		return rec
	}
	plain := with(func(*vectorstore.Record) {})
	task := with(func(r *vectorstore.Record) { r.Domain = memory.Tasks })
	insight := with(func(r *vectorstore.Record) { r.Type = "insight" })
	amy := with(func(r *vectorstore.Record) { r.AgentID = "amy" })
	bob := with(func(r *vectorstore.Record) { r.AgentID = `b"ob\` })
	before := with(func(r *vectorstore.Record) { r.CreatedAt = at.Add(-time.Millisecond) })
	after := with(func(r *vectorstore.Record) { r.CreatedAt = at.Add(time.Millisecond) })
	ancient := with(func(r *vectorstore.Record) { r.CreatedAt = time.Date(1903, 2, 1, 0, 0, 0, 0, time.UTC) })
	all := []vectorstore.Record{plain, task, insight, amy, bob, before, after, ancient}
	must(t, s.Insert(t.Context(), all))
	awaitIDs(t, s, around(o, axis(1, 1)), idsOf(all)...)

	for name, c := range map[string]struct {
		change func(*vectorstore.Query)
		want   []vectorstore.Record
	}{
		"domain": {func(q *vectorstore.Query) { q.Domains = []memory.Domain{memory.Tasks} },
			[]vectorstore.Record{task}},
		"domains": {func(q *vectorstore.Query) { q.Domains = []memory.Domain{memory.Tasks, memory.Preferences} },
			all},
		"other domain": {func(q *vectorstore.Query) { q.Domains = []memory.Domain{memory.Social} }, nil},
		"type": {func(q *vectorstore.Query) { q.Types = []memory.Type{"insight", "task"} },
			[]vectorstore.Record{insight}},
		"agent": {func(q *vectorstore.Query) { q.AgentID = "amy" },
			[]vectorstore.Record{plain, task, insight, amy, before, after, ancient}},
		"hostile agent": {func(q *vectorstore.Query) { q.AgentID = `b"ob\` },
			[]vectorstore.Record{plain, task, insight, bob, before, after, ancient}},
		"since": {func(q *vectorstore.Query) { q.Since = at },
			[]vectorstore.Record{plain, task, insight, amy, bob, after}},
		"until": {func(q *vectorstore.Query) { q.Until = at }, []vectorstore.Record{before, ancient}},
		"moment": {func(q *vectorstore.Query) { q.Since, q.Until = at.Add(time.Millisecond), at.Add(2*time.Millisecond) },
			[]vectorstore.Record{after}},
		"before epoch": {func(q *vectorstore.Query) { q.Until = time.Unix(-1, 0) }, []vectorstore.Record{ancient}},
		"all": {func(q *vectorstore.Query) {
			q.Domains = []memory.Domain{memory.Preferences}
			q.Types = []memory.Type{memory.TypeFact}
			q.AgentID = "amy"
			q.Since, q.Until = at, at.Add(time.Millisecond)
		}, []vectorstore.Record{plain, amy}},
	} {
		q := around(o, axis(1, 1))
		c.change(&q)
		got, want := ids(search(t, s, q)), idsOf(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", name, got, want)
		}
	}
}
