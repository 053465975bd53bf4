package milvus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"
	"golang.org/x/sync/errgroup"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/milvus/milvustest"
)

func TestOpen_CreatesDocumentedLayout(t *testing.T) {
	t.Parallel()
	o := options(t, space)
	o.Partitions = 0
	s := open(t, o)
	c := sdk(t)
	found, err := c.DescribeCollection(t.Context(), o.Collection)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(found.Name, o.Collection+"_text_embedding_v4_4_") {
		t.Errorf("the alias points to %q", found.Name)
	}
	var fields []string
	for _, f := range found.Schema.Fields {
		fields = append(fields, fmt.Sprint(f.Name, " ", f.TypeParams[entity.TypeParamMaxLength], " ", f.IsPartitionKey))
		if f.Description == "" {
			t.Errorf("the field %s has no description", f.Name)
		}
	}
	want := []string{
		"id 36 false", "embedding  false", "app_id 256 false", "user_id 256 true", "agent_id 256 false",
		"domain 64 false", "memory_type 64 false", "content 16384 false", "created_at  false",
	}
	if strings.Join(fields, "\n") != strings.Join(want, "\n") {
		t.Errorf("fields (max_length, partition key):\n%s", strings.Join(fields, "\n"))
	}
	schema := found.Schema
	if found.ShardNum != 1 || schema.EnableDynamicField || !strings.Contains(schema.Description, space.Model) {
		t.Errorf("%d shards, dynamic fields %t, description %q",
			found.ShardNum, schema.EnableDynamicField, schema.Description)
	}
	partitions, err := c.ShowPartitions(t.Context(), found.Name)
	if err != nil || len(partitions) != 256 {
		t.Errorf("%d partitions, %v", len(partitions), err)
	}
	for field, kind := range map[string]string{"embedding": "FLAT", "user_id": "Trie"} {
		index, err := c.DescribeIndex(t.Context(), found.Name, field)
		if err != nil || len(index) != 1 || index[0].Params()["index_type"] != kind {
			t.Errorf("index of %s: %v, %v", field, index, err)
		}
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOpen_KeepsExistingRecords(t *testing.T) {
	t.Parallel()
	o := options(t, space)
	first := open(t, o)
	if first.Losses() != 1 {
		t.Errorf("%d losses after creating the collection, want 1", first.Losses())
	}
	rec := record()
	if err := first.Insert(t.Context(), []vectorstore.Record{rec}); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, o)
	if again.Losses() != 0 {
		t.Errorf("%d losses after opening an existing collection, want 0", again.Losses())
	}
	awaitHit(t, again, rec)
}

// Each space has its own collections. The public alias moves only if SetAlias is called.
func TestOpen_SeparatesSpaces(t *testing.T) {
	t.Parallel()
	o := options(t, space)
	first := open(t, o)
	o.Space = vectorstore.Space{Model: "text_embedding_v4", Dim: 4}
	second := open(t, o)
	publicDescription := func() string {
		t.Helper()
		found, err := sdk(t).DescribeCollection(t.Context(), o.Collection)
		if err != nil {
			t.Fatal(err)
		}
		return found.Schema.Description
	}
	rec := record()
	for _, s := range []*milvus.Store{first, second} {
		if err := s.Insert(t.Context(), []vectorstore.Record{rec}); err != nil {
			t.Fatal(err)
		}
		awaitHit(t, s, rec)
		if description := publicDescription(); !strings.Contains(description, space.Model) {
			t.Errorf("the public alias points to %q", description)
		}
	}
	if err := second.SetAlias(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second.Rebuild(t.Context(), func(ctx context.Context, into vectorstore.Writer) error {
		return into.Insert(ctx, []vectorstore.Record{rec})
	}); err != nil {
		t.Fatal(err)
	}
	if err := first.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if description := publicDescription(); !strings.Contains(description, o.Space.Model) {
		t.Errorf("after the change, the public alias points to %q", description)
	}
	all, err := sdk(t).ListCollections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, found := range all {
		if strings.HasPrefix(found.Name, o.Collection) {
			left++
		}
	}
	if left != 1 {
		t.Errorf("%d collections are left, want the second one's", left)
	}
	awaitHit(t, second, rec)
	o.Space = space
	if open(t, o).Losses() != 1 {
		t.Error("the dropped collection still exists")
	}
}

// The alias may have the name of a foreign collection, or point to one.
func TestOpen_RefusesForeignCollections(t *testing.T) {
	t.Parallel()
	c := sdk(t)
	foreign := func(name string) {
		schema := entity.NewSchema().WithName(name).
			WithField(entity.NewField().WithName("id").WithDataType(entity.FieldTypeInt64).WithIsPrimaryKey(true)).
			WithField(entity.NewField().WithName("embedding").WithDataType(entity.FieldTypeFloatVector).WithDim(4))
		if err := c.CreateCollection(t.Context(), schema, 1); err != nil {
			t.Fatal(err)
		}
	}
	plain, aliased := options(t, space), options(t, space)
	foreign(plain.Collection)
	foreign(aliased.Collection + "_x")
	if err := c.CreateAlias(t.Context(), aliased.Collection+"_x", aliased.Collection); err != nil {
		t.Fatal(err)
	}
	for _, o := range []milvus.Options{plain, aliased} {
		_, err := milvus.Open(t.Context(), o)
		if !memory.IsKind(err, memory.KindConflict) || !strings.Contains(err.Error(), "not created by Hippocampus") {
			t.Errorf("got %v, want a conflict", err)
		}
	}
}

// Replicas that start at the same time share one collection for each space, even
// if their layouts differ.
func TestOpen_IsSafeForConcurrentReplicas(t *testing.T) {
	t.Parallel()
	o := options(t, space)
	stores := make([]*milvus.Store, 6)
	var group errgroup.Group
	for i := range stores {
		group.Go(func() (err error) {
			o := o
			o.Partitions += i % 2
			stores[i], err = milvus.Open(t.Context(), o)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	rec := record()
	if err := stores[0].Insert(t.Context(), []vectorstore.Record{rec}); err != nil {
		t.Fatal(err)
	}
	for _, s := range stores {
		awaitHit(t, s, rec)
		s.Close()
	}

	rival := options(t, space)
	errs := make([]error, 6)
	for i := range errs {
		group.Go(func() error {
			o := rival
			o.Space.Dim += i % 2
			s, err := milvus.Open(t.Context(), o)
			errs[i] = err
			if err == nil {
				s.Close()
			}
			return nil
		})
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("opener %d: %v", i, err)
		}
	}
}

// Reads and writes report a collection that another client dropped, with or without its alias, and do not create it:
// before it exists again, all records must be due. Ensure creates it and counts a loss.
func TestStore_ReportsDroppedCollection(t *testing.T) {
	t.Parallel()
	for name, drop := range map[string]func(t *testing.T, alias string){
		"with alias": func(t *testing.T, alias string) { milvustest.Drop(t, alias) },
		"without alias": func(t *testing.T, alias string) {
			c := sdk(t)
			found, err := c.DescribeCollection(t.Context(), alias)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.DropCollection(t.Context(), found.Name); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, space)
			s := open(t, o)
			rec := record()
			drop(t, o.Collection)
			if _, err := s.Search(t.Context(), query(rec)); !memory.IsKind(err, memory.KindUnavailable) {
				t.Errorf("search: got %v, want an error of kind unavailable", err)
			}
			err := s.Ping(t.Context())
			if !memory.IsKind(err, memory.KindUnavailable) || !errors.Is(err, vectorstore.ErrGone) {
				t.Errorf("ping: got %v, want ErrGone of kind unavailable", err)
			}
			for name, write := range map[string]func() error{
				"insert":  func() error { return s.Insert(t.Context(), []vectorstore.Record{rec}) },
				"replace": func() error { return s.Replace(t.Context(), []vectorstore.Record{rec}) },
				"delete":  func() error { return s.Delete(t.Context(), []string{rec.ID}) },
			} {
				if err := write(); !errors.Is(err, vectorstore.ErrGone) {
					t.Errorf("%s: got %v, want ErrGone", name, err)
				}
			}
			if err := s.Ping(t.Context()); !errors.Is(err, vectorstore.ErrGone) {
				t.Errorf("ping after the writes: got %v, want ErrGone", err)
			}
			losses := s.Losses()
			if err := s.Ensure(t.Context()); err != nil || s.Losses() != losses+1 {
				t.Fatalf("ensure: %v, %d losses after %d", err, s.Losses(), losses)
			}
			if err := s.Replace(t.Context(), []vectorstore.Record{rec}); err != nil {
				t.Fatal(err)
			}
			awaitHit(t, s, rec)
			awaitHit(t, open(t, o), rec)
			drop(t, o.Collection)
			if open(t, o).Losses() != 1 {
				t.Error("opening the dropped collection counts no loss")
			}
		})
	}
}

func TestEnsure_LoadsReleasedCollection(t *testing.T) {
	t.Parallel()
	o := options(t, space)
	s := open(t, o)
	rec := record()
	if err := s.Insert(t.Context(), []vectorstore.Record{rec}); err != nil {
		t.Fatal(err)
	}
	if err := sdk(t).ReleaseCollection(t.Context(), o.Collection); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !memory.IsKind(err, memory.KindUnavailable) || errors.Is(err, vectorstore.ErrGone) {
		t.Errorf("ping: got %v, want an error of kind unavailable other than ErrGone", err)
	}
	if err := s.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitHit(t, s, rec)
}
