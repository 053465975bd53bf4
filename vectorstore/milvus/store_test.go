package milvus_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"go.uber.org/goleak"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/milvus/milvustest"
	"hippocampus/vectorstore/vectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var space = vectorstore.Space{Model: "text-embedding-v4", Dim: 4}

func options(t testing.TB, space vectorstore.Space) milvus.Options {
	return milvus.Options{
		Addr: milvustest.Addr(t), Collection: milvustest.Collection(t), Space: space,
		Partitions: milvustest.Partitions, Timeout: time.Minute,
	}
}

func open(t testing.TB, o milvus.Options) *milvus.Store {
	t.Helper()
	s, err := milvus.Open(t.Context(), o)
	for deadline := time.Now().Add(5 * time.Minute); memory.IsKind(err, memory.KindUnavailable); { // a busy Milvus
		if time.Now().After(deadline) {
			break
		}
		s, err = milvus.Open(t.Context(), o)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func sdk(t testing.TB) client.Client {
	t.Helper()
	c, err := client.NewClient(t.Context(), client.Config{Address: milvustest.Addr(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func record() vectorstore.Record {
	return vectorstore.Record{
		ID: memory.NewID(), Owner: memory.Owner{AppID: "app", UserID: "user"}, Domain: memory.Preferences,
		Type: memory.TypeFact, Content: "likes tea", Embedding: []float32{0, 1, 0, 0},
	}
}

func query(r vectorstore.Record) vectorstore.Query {
	return vectorstore.Query{Owner: r.Owner, Embedding: r.Embedding, Limit: 10}
}

// awaitHit polls until the record, and nothing else, is found.
func awaitHit(t testing.TB, s *milvus.Store, r vectorstore.Record) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		hits, err := s.Search(t.Context(), query(r))
		if err == nil && len(hits) == 1 && hits[0].ID == r.ID {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the record is not found: %v, %v", hits, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestStore_Conformance(t *testing.T) {
	t.Parallel()
	vectortest.Run(t, func(t *testing.T, space vectorstore.Space) vectorstore.Store {
		return open(t, options(t, space))
	})
}

// Scan merges sealed segments on disk with growing segments in memory.
func TestScan_OrdersRecordsAcrossSegments(t *testing.T) {
	t.Parallel()
	o := options(t, space)
	s := open(t, o)
	const rounds, each = 3, 400
	var want []string
	for round := range rounds {
		var records []vectorstore.Record
		for i := range each {
			rec := record()
			rec.ID = fmt.Sprintf("%05d", (i*rounds+round)*7919%(rounds*each))
			rec.UserID = fmt.Sprint("user", i%9)
			records, want = append(records, rec), append(want, rec.ID)
		}
		if err := s.Insert(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		if round < rounds-1 {
			if err := sdk(t).Flush(t.Context(), o.Collection, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.Sort(want)
	var got []string
	for after, more := "", true; more; {
		more = false
		err := s.Scan(t.Context(), after, 170, func(r vectorstore.Record) error {
			got = append(got, r.ID)
			after = r.ID
			more = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("scanned %d ids, want %d; in order: %t", len(got), len(want), slices.IsSorted(got))
	}
}

func TestOpen_ChoosesIndex(t *testing.T) {
	t.Parallel()
	o := options(t, space)
	o.Index = "HNSW"
	s := open(t, o)
	rec := record()
	if err := s.Insert(t.Context(), []vectorstore.Record{rec}); err != nil {
		t.Fatal(err)
	}
	awaitHit(t, s, rec)
	o.Index = "IVF"
	if _, err := milvus.Open(t.Context(), o); !memory.IsKind(err, memory.KindInvalid) {
		t.Errorf("an unknown index: got %v, want an error of kind invalid", err)
	}
}
