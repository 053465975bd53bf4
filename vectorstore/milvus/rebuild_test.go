package milvus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/vectortest"
)

func TestRebuild_Conformance(t *testing.T) {
	t.Parallel()
	vectortest.Rebuild(t, open(t, options(t, vectorstore.Space{Model: "test", Dim: vectortest.Dim})))
}

// rebuild fills a new collection with a record. It begins again while Milvus is unavailable, as the job of a rebuild
// does: the data coordinator of a busy Milvus refuses to allocate segments now and then.
func rebuild(t *testing.T, s *milvus.Store, rec vectorstore.Record) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := s.Rebuild(t.Context(), func(ctx context.Context, into vectorstore.Writer) error {
			return into.Insert(ctx, []vectorstore.Record{rec})
		})
		if err == nil {
			return
		}
		if !memory.IsKind(err, memory.KindUnavailable) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// After a rebuild, other replicas use the new collection at once, and all others
// are dropped, including those of crashed rebuilds.
func TestRebuild_IsSeenByReplicas(t *testing.T) {
	t.Parallel()
	o := options(t, space)
	first := open(t, o)
	second := open(t, o)
	c := sdk(t)
	before, err := c.DescribeCollection(t.Context(), o.Collection)
	if err != nil {
		t.Fatal(err)
	}
	left := *before.Schema
	left.CollectionName = before.Name + "_left"
	if err := c.CreateCollection(t.Context(), &left, 1); err != nil {
		t.Fatal(err)
	}
	rec, late := record(), record()
	late.UserID = "late"
	for round := range 2 {
		rebuild(t, first, rec)
		if hits, err := second.Search(t.Context(), query(rec)); err != nil || len(hits) != 1 {
			t.Errorf("round %d: the other replica finds %v, %v", round, hits, err)
		}
		if err := second.Replace(t.Context(), []vectorstore.Record{late}); err != nil {
			t.Fatal(err)
		}
		awaitHit(t, first, late)
	}
	all, err := c.ListCollections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, found := range all {
		if strings.HasPrefix(found.Name, o.Collection) {
			ours = append(ours, found.Name)
		}
	}
	if len(ours) != 1 || ours[0] == before.Name {
		t.Errorf("collections %q are left, want only the rebuilt one", ours)
	}
	awaitHit(t, open(t, o), rec)
}
