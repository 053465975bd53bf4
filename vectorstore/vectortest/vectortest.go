// Package vectortest tests every vector store against the contract:
//
//	open -> store -> writes, searches until they find them -> assertions
//
// Searches may lag behind writes, so the tests wait for conditions; scans may
// not. The tests of each adapter check that it refuses another space, since only
// the adapter knows how to open the same collection twice.
package vectortest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// timeout is how long searches may lag behind a write.
const timeout = 5 * time.Minute

// Dim is the dimension of the spaces that Run opens.
const Dim = 16

// Run tests the stores that open returns. Each call of open must return an empty
// store and close it at the end of the test.
func Run(t *testing.T, open func(t *testing.T, space vectorstore.Space) vectorstore.Store) {
	fresh := func(t *testing.T) vectorstore.Store {
		return open(t, vectorstore.Space{Model: "test/model \"1\"", Dim: Dim})
	}
	// Searches never cross owners, so the tests that only search share one store.
	shared := fresh(t)
	for name, test := range map[string]func(*testing.T, vectorstore.Store){
		"Nearest": testNearest, "Scale": testScale, "Ties": testTies, "MaxLimit": testMaxLimit,
		"Filters": testFilters, "Replace": testReplace, "Delete": testDelete,
		"Isolation": testIsolation, "Concurrency": testConcurrency, "EndedContext": testEndedContext,
		"Refusals": testRefusals, "Ping": testPing,
		"DeleteOwner": testDeleteOwner, "DeleteManyOfOwner": testDeleteManyOfOwner,
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

// owner is an owner that no other test writes for.
func owner() memory.Owner {
	return memory.Owner{AppID: "app-" + memory.NewID(), UserID: "user-" + memory.NewID()}
}

// record is an ordinary record of the owner with a new id.
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

// randomUnit draws a unit vector.
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

// around is a query for all records of the owner.
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

// await polls until condition returns nil, and fails the test with its last error
// after the timeout.
func await(t testing.TB, condition func() error) {
	t.Helper()
	deadline := time.Now().Add(timeout)
	for {
		err := condition()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", timeout, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// awaitIDs polls until the query finds exactly these ids, in any order.
func awaitIDs(t testing.TB, s vectorstore.Store, q vectorstore.Query, want ...string) {
	t.Helper()
	must(t, findIDs(t.Context(), s, q, want))
}

// findIDs polls until the query finds exactly these ids, in any order. It returns what differs after the timeout, and
// an error of the search at once.
func findIDs(ctx context.Context, s vectorstore.Store, q vectorstore.Query, want []string) error {
	slices.Sort(want)
	for deadline := time.Now().Add(timeout); ; time.Sleep(20 * time.Millisecond) {
		hits, err := s.Search(ctx, q)
		if err != nil {
			return err
		}
		got := ids(hits)
		slices.Sort(got)
		if slices.Equal(got, want) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %v: found %d ids %.10q, want %d %.10q", timeout, len(got), got, len(want), want)
		}
	}
}

// eachOf calls f for each owner with its records' ids, several at a time, since a store that reads its own writes may
// wait for them. It reports all errors.
func eachOf(t testing.TB, held map[memory.Owner][]string, f func(o memory.Owner, ids []string) error) {
	t.Helper()
	const atOnce = 16
	var group errgroup.Group
	group.SetLimit(atOnce)
	for o, ids := range held {
		group.Go(func() error {
			if err := f(o, ids); err != nil {
				t.Error(err)
			}
			return nil
		})
	}
	_ = group.Wait() // no call returns an error
}

// collect scans all records.
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
