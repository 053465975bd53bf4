package sqlitevec

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // draws less under the race detector
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/vectortest"
)

const plenty = 64 << 20 // bytes

// openCached opens a store whose cache holds every owner, up to limit bytes.
func openCached(t testing.TB, path string, space vectorstore.Space, limit int) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{Path: path, Space: space, CacheBytes: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.cache.minRecords = 1
	return s
}

func TestStore_ConformanceWithCache(t *testing.T) {
	t.Parallel()
	vectortest.Run(t, func(t *testing.T, space vectorstore.Space) vectorstore.Store {
		return openCached(t, filepath.Join(t.TempDir(), "vectors.db"), space, plenty)
	})
	space := vectorstore.Space{Model: "test", Dim: vectortest.Dim}
	vectortest.Rebuild(t, openCached(t, filepath.Join(t.TempDir(), "vectors.db"), space, plenty))
}

var owners = []memory.Owner{{AppID: "a", UserID: "ada"}, {AppID: "a", UserID: "bob"}, {AppID: "b", UserID: "ada"}}

func randomRecord(r *rand.Rand, id string) vectorstore.Record {
	return vectorstore.Record{
		ID: id, Owner: owners[r.IntN(len(owners))], AgentID: []string{"", "x", "y"}[r.IntN(3)],
		Domain: memory.Domains[r.IntN(2)], Type: memory.Types[r.IntN(2)], Content: "c",
		CreatedAt: time.UnixMilli(int64(r.IntN(10))), Embedding: randomVector(r),
	}
}

func randomVector(r *rand.Rand) []float32 {
	v := make([]float32, 4)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func randomQuery(r *rand.Rand) vectorstore.Query {
	q := vectorstore.Query{Owner: owners[r.IntN(len(owners))], Embedding: unit(randomVector(r)), Limit: 1 + r.IntN(20)}
	if r.IntN(3) == 0 {
		q.Domains = memory.Domains[:1+r.IntN(2)]
	}
	if r.IntN(3) == 0 {
		q.Types = memory.Types[1:2]
	}
	if r.IntN(3) == 0 {
		q.AgentID = "x"
	}
	if r.IntN(3) == 0 {
		q.Since = time.UnixMilli(int64(r.IntN(10)))
	}
	if r.IntN(3) == 0 {
		q.Until = time.UnixMilli(int64(r.IntN(10)))
	}
	return q
}

// compare fails unless a search, after the owner's vectors were cached, finds what a search
// of the file finds.
func (s *Store) compare(q vectorstore.Query) error {
	if err := s.cache.fill(context.Background(), s.reader, q.Owner); err != nil {
		return err
	}
	s.cache.reads.Wait()
	got, err := s.Search(context.Background(), q)
	if err != nil {
		return err
	}
	want, err := s.searchFile(context.Background(), q, nil)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got, want, func(a, b vectorstore.Hit) bool {
		return a.ID == b.ID && math.Abs(a.Similarity-b.Similarity) < 1e-5
	}) {
		return fmt.Errorf("%+v found %v, want %v", q, got, want)
	}
	return nil
}

// The cache equals the file after any writes and with any limit.
func TestCache_EqualsFile(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		limit := rapid.SampledFrom([]int{300, 3000, plenty}).Draw(rt, "bytes")
		s, err := Open(t.Context(), Options{
			Path: filepath.Join(dir, fmt.Sprint(n)), Space: vectorstore.Space{Model: "m", Dim: 4}, CacheBytes: limit,
		})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		s.cache.minRecords = 1 + r.IntN(3)
		s.cache.maxExact = rapid.SampledFrom([]int{0, 8, plenty}).Draw(rt, "exact")
		s.cache.keptExact = r.IntN(8)
		ids := 0
		existing := func() string { return fmt.Sprint(r.IntN(ids + 1)) }
		for range 40 {
			var err error
			switch r.IntN(12) {
			case 0, 1, 2, 3:
				var records []vectorstore.Record
				for range 1 + r.IntN(4) {
					ids++
					records = append(records, randomRecord(r, fmt.Sprint(ids)))
				}
				err = s.Insert(t.Context(), records)
			case 4, 5, 6:
				err = s.Replace(t.Context(), []vectorstore.Record{randomRecord(r, existing())})
			case 7, 8:
				err = s.Delete(t.Context(), []string{existing(), existing()})
			case 9:
				_, err = s.DeleteOwner(t.Context(), owners[r.IntN(len(owners))])
			case 10:
				repeated := []vectorstore.Record{randomRecord(r, "new"), randomRecord(r, "new")} // refused as a whole
				if err = s.Insert(t.Context(), repeated); !memory.IsKind(err, memory.KindInvalid) {
					rt.Fatalf("the same id twice: %v", err)
				}
				err = nil
			case 11:
				err = s.Rebuild(t.Context(), func(ctx context.Context, into vectorstore.Writer) error {
					ids++
					return into.Insert(ctx, []vectorstore.Record{randomRecord(r, fmt.Sprint(ids))})
				})
			}
			if err != nil {
				rt.Fatal(err)
			}
			if err := s.compare(randomQuery(r)); err != nil {
				rt.Fatal(err)
			}
			if s.cache.bytes > s.cache.limit {
				rt.Fatalf("the cache has %d bytes, more than %d", s.cache.bytes, s.cache.limit)
			}
		}
		var bytes int
		for _, e := range s.cache.owners.Values() {
			var rows int
			for _, r := range e.rows {
				rows += r.bytes()
			}
			if e.bytes != rows || e.measured != rows || len(e.index) != len(e.rows) {
				rt.Fatalf("%d rows of %d bytes; the matrix counts %d, the entry %d; %d ids are indexed",
					len(e.rows), rows, e.bytes, e.measured, len(e.index))
			}
			bytes += rows
		}
		if bytes != s.cache.bytes {
			rt.Fatalf("the cache has %d bytes and counts %d", bytes, s.cache.bytes)
		}
	})
}

// The cache receives writes that are made while an owner's records are read.
func TestCache_ReceivesWritesDuringReads(t *testing.T) {
	t.Parallel()
	s := openCached(t, filepath.Join(t.TempDir(), "vectors.db"), vectorstore.Space{Model: "m", Dim: 4}, plenty)
	var group errgroup.Group
	const writers, rounds = 4, 100
	for w := range writers {
		group.Go(func() error {
			r := rand.New(rand.NewPCG(uint64(w), 2))
			for i := range rounds {
				id := func(i int) string { return fmt.Sprintf("%d-%d", w, i) }
				if err := s.Insert(t.Context(), []vectorstore.Record{randomRecord(r, id(i))}); err != nil {
					return err
				}
				if err := s.Replace(t.Context(), []vectorstore.Record{randomRecord(r, id(i/2))}); err != nil {
					return err
				}
				if err := s.Delete(t.Context(), []string{id(i / 3)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	written := make(chan error)
	go func() { written <- group.Wait() }()
	r := rand.New(rand.NewPCG(3, 4))
	for round := 0; ; round++ {
		if round%2 == 0 {
			s.cache.purge() // so that the file is read again
		}
		for _, owner := range owners {
			q := vectorstore.Query{Owner: owner, Embedding: unit(randomVector(r)), Limit: 1}
			if _, err := s.Search(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			for _, owner := range owners {
				q := vectorstore.Query{Owner: owner, Embedding: unit(randomVector(r)), Limit: 1000}
				if err := s.compare(q); err != nil {
					t.Error(err)
				}
			}
			return
		default:
		}
	}
}

// A change that is committed during a read reaches the matrix before the rows do.
func TestMatrix_AppliesChangesAfterRows(t *testing.T) {
	t.Parallel()
	s := openCached(t, filepath.Join(t.TempDir(), "vectors.db"), vectorstore.Space{Model: "m", Dim: 4}, plenty)
	r := rand.New(rand.NewPCG(5, 6))
	kept, replaced := randomRecord(r, "1"), randomRecord(r, "2")
	deleted, later := randomRecord(r, "3"), randomRecord(r, "4")
	for _, record := range []*vectorstore.Record{&kept, &replaced, &deleted, &later} {
		record.Owner = owners[0]
	}
	if err := s.Insert(t.Context(), []vectorstore.Record{kept, replaced, deleted}); err != nil {
		t.Fatal(err)
	}
	replaced.Embedding = later.Embedding
	m := newMatrix(owners[0], plenty)
	m.change(change{ids: []string{"2", "4"}, records: []vectorstore.Record{replaced, later}})
	m.change(change{ids: []string{"3"}})
	if err := m.read(t.Context(), s.reader, 4, plenty); err != nil {
		t.Fatal(err)
	}
	hits, _, ok := m.search(vectorstore.Query{Owner: owners[0], Embedding: unit(later.Embedding), Limit: 9})
	if !ok || len(hits) != 3 || hits[0].ID != "2" || hits[1].ID != "4" || hits[2].ID != "1" ||
		hits[0].Similarity < 0.999999 {
		t.Errorf("found %v, %t", hits, ok)
	}
}
