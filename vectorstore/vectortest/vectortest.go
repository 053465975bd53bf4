// Package vectortest holds every vector store to the contract:
//
//	open -> store -> writes, polls until they show -> assertions
//
// Searches may lag behind writes, so that tests wait for conditions; scans may
// not. That a store refuses another space is for the adapters to show, who
// know how to open the same place twice.
package vectortest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// patience is how long a write may take to show in searches.
const patience = 5 * time.Minute

// Dim is the dimension of the spaces that Run opens.
const Dim = 16

// Run holds the stores that open makes to the contract. Each call of open
// gives an empty store, closed at the end of the test.
func Run(t *testing.T, open func(t *testing.T, space vectorstore.Space) vectorstore.Store) {
	fresh := func(t *testing.T) vectorstore.Store {
		return open(t, vectorstore.Space{Model: "test/model \"1\"", Dim: Dim})
	}
	// Searches never cross owners, so that the tests which only search share one store.
	shared := fresh(t)
	for name, test := range map[string]func(*testing.T, vectorstore.Store){
		"Nearest": testNearest, "Scale": testScale, "Ties": testTies, "MaxLimit": testMaxLimit,
		"Filters": testFilters, "Replace": testReplace, "Delete": testDelete,
		"Isolation": testIsolation, "Concurrency": testConcurrency, "EndedContext": testEndedContext,
		"Refusals": testRefusals, "Ping": testPing, "DeleteOwner": testDeleteOwner, "DeleteManyOfOwner": testDeleteManyOfOwner,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, shared)
		})
	}
	for name, test := range map[string]func(*testing.T, vectorstore.Store){
		"Scan": testScan, "Contents": testContents, "Closed": testClosed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh(t))
		})
	}
}

// owner is one whom no other test writes for.
func owner() memory.Owner {
	return memory.Owner{AppID: "app-" + memory.NewID(), UserID: "user-" + memory.NewID()}
}

// record is an ordinary record of the owner with a fresh id.
func record(o memory.Owner, embedding []float32) vectorstore.Record {
	return vectorstore.Record{
		ID: memory.NewID(), Owner: o, Domain: memory.Preferences, Type: memory.TypeFact,
		Content: "likes tea", CreatedAt: time.UnixMilli(1_700_000_000_123).UTC(), Embedding: embedding,
	}
}

// axis is the i-th unit vector, times sign.
func axis(i int, sign float32) []float32 {
	v := make([]float32, Dim)
	v[i] = sign
	return v
}

// randomUnit draws a direction.
func randomUnit(r *rand.Rand) []float32 {
	v, square := make([]float32, Dim), 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

// around asks for everything of the owner.
func around(o memory.Owner, embedding []float32) vectorstore.Query {
	return vectorstore.Query{Owner: o, Embedding: embedding, Limit: 1000}
}

func ids(hits []vectorstore.Hit) []string {
	var all []string
	for _, h := range hits {
		all = append(all, h.ID)
	}
	return all
}

func idsOf(records []vectorstore.Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, r.ID)
	}
	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func search(t testing.TB, s vectorstore.Store, q vectorstore.Query) []vectorstore.Hit {
	t.Helper()
	hits, err := s.Search(t.Context(), q)
	must(t, err)
	return hits
}

// await polls until the condition holds, and fails the test with its last objection.
func await(t testing.TB, condition func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := condition()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", patience, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// awaitIDs polls until the query finds exactly these ids, in any order.
func awaitIDs(t testing.TB, s vectorstore.Store, q vectorstore.Query, want ...string) {
	t.Helper()
	slices.Sort(want)
	await(t, func() error {
		got := ids(search(t, s, q))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("found %d ids %.10q, want %d %.10q", len(got), got, len(want), want)
		}
		return nil
	})
}

// collect scans everything.
func collect(t testing.TB, s vectorstore.Store) []vectorstore.Record {
	t.Helper()
	var all []vectorstore.Record
	must(t, s.Scan(t.Context(), "", math.MaxInt, func(r vectorstore.Record) error {
		all = append(all, r)
		return nil
	}))
	return all
}

var errStop = errors.New("stop")
