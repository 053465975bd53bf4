package sqlitevec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

func TestQueryCodes_BoundsHoldTheCosine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		dim := rapid.IntRange(1, 600).Draw(rt, "dim")
		spread := rapid.Float64Range(0, 20).Draw(rt, "spread") // 0: all numbers have one size
		vector := func() []float32 {
			v := make([]float32, dim)
			for i := range v {
				v[i] = float32(r.NormFloat64() * math.Exp(-spread*r.Float64()))
			}
			return unit(v)
		}
		a, b := vector(), vector()
		if r.IntN(2) == 0 {
			b = a
		}
		query, codes := encodedQuery(a), encoded(b)
		least, most := query.bounds(&codes)
		if cosine := float64(memory.Dot(a, b)); cosine < least || cosine > most {
			rt.Fatalf("the cosine %v is not between %v and %v", cosine, least, most)
		}
		if most-least > 2*float64(codes.err)+1e-3 {
			rt.Fatalf("the bounds %v and %v are further apart than the error %v of the codes", least, most, codes.err)
		}
	})
}

func TestDot_IsTheSameOnEveryProcessor(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for _, dim := range []int{1, 15, 16, 17, 256, 512, 1000, 4096, 5000, 8192} {
		a, b := make([]int16, dim), make([]int8, dim)
		for _, most := range []bool{false, true} {
			for i := range dim {
				a[i], b[i] = int16(r.IntN(1<<16)-1<<15), int8(r.IntN(1<<8)-1<<7)
				if most { // the sums that are most likely to overflow
					a[i], b[i] = -math.MaxInt16, math.MaxInt8
				}
			}
			if got, want := dot(a, b), portableDot(a, b); got != want {
				t.Errorf("the product of %d numbers is %d, not %d", dim, got, want)
			}
		}
	}
}

func BenchmarkDot(b *testing.B) {
	x, y := make([]int16, 512), make([]int8, 512)
	for b.Loop() {
		dot(x, y)
	}
}

// The nearest of many records are chosen by their codes and compared in the file.
func TestCache_ComparesTheNearestInTheFile(t *testing.T) {
	t.Parallel()
	const dim = 64
	s := openCached(t, filepath.Join(t.TempDir(), "vectors.db"), vectorstore.Space{Model: "m", Dim: dim}, plenty)
	s.cache.maxExact = 1000
	r := rand.New(rand.NewPCG(7, 8))
	vector := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return unit(v)
	}
	var records []vectorstore.Record
	for i := range 3000 {
		record := randomRecord(r, fmt.Sprint(i))
		record.Owner, record.Embedding = owners[0], vector()
		records = append(records, record)
	}
	for _, part := range [][]vectorstore.Record{records[:900], records[900:2900], records[2900:]} {
		if err := s.Insert(t.Context(), part); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			q := randomQuery(r)
			q.Owner, q.Embedding = owners[0], vector()
			if err := s.compare(q); err != nil {
				t.Fatal(err)
			}
		}
	}
	e, _ := s.cache.get(owners[0])
	_, among, ok := e.search(vectorstore.Query{Owner: owners[0], Embedding: vector(), Limit: 20})
	if !ok || len(among) < 20 || len(among) > 200 || e.bytes > 3000*(dim+200) {
		t.Errorf("%d of 3,000 records are compared, %t; the matrix has %d bytes", len(among), ok, e.bytes)
	}
}
