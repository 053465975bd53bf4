package milvus

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v2/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v2/schemapb"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus/milvustest"
)

var plain = vectorstore.Space{Model: "m", Dim: 4}

func openPlain(t *testing.T, alias string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{
		Addr: milvustest.Addr(t), Collection: alias, Space: plain, Partitions: milvustest.Partitions, Timeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func plainRecord() vectorstore.Record {
	return vectorstore.Record{
		ID: memory.NewID(), Owner: memory.Owner{AppID: "app", UserID: "user"}, Domain: memory.Preferences,
		Type: memory.TypeFact, Content: "likes tea", Embedding: []float32{0, 1, 0, 0},
	}
}

// The test sends requests that the contract's checks would refuse, and valid
// requests to a collection that is released or dropped.
func TestCall_ClassifiesAnswersOfMilvus(t *testing.T) {
	t.Parallel()
	s := openPlain(t, milvustest.Collection(t))
	if err := s.Insert(t.Context(), []vectorstore.Record{plainRecord()}); err != nil {
		t.Fatal(err)
	}
	// A search checks its vector only if there is a row to compare it with.
	if err := s.Scan(t.Context(), "", 1, func(vectorstore.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	insert := func(change func(*vectorstore.Record)) func(context.Context, string) error {
		return func(ctx context.Context, collection string) error {
			r := plainRecord()
			change(&r)
			var fields []*schemapb.FieldData
			for _, column := range columnsOf(vectorstore.Space{Dim: len(r.Embedding)}, []vectorstore.Record{r}) {
				fields = append(fields, column.FieldData())
			}
			_, err := s.client.(*client.GrpcClient).Service.Insert(ctx,
				&milvuspb.InsertRequest{CollectionName: collection, FieldsData: fields, NumRows: 1})
			return err
		}
	}
	search := func(filter string, dim, limit int) func(context.Context, string) error {
		return func(ctx context.Context, collection string) error {
			param, err := entity.NewIndexFlatSearchParam()
			if err != nil {
				return err
			}
			vector := make(entity.FloatVector, dim)
			_, err = s.client.Search(ctx, collection, nil, filter, nil, []entity.Vector{vector}, fieldEmbedding,
				entity.COSINE, limit, param, bounded)
			return err
		}
	}
	want := func(name string, kind memory.Kind, f func(context.Context, string) error) {
		t.Helper()
		err := s.call(t.Context(), s.options.Timeout, name, func(ctx context.Context) error { return f(ctx, s.alias) })
		if !memory.IsKind(err, kind) {
			t.Errorf("%s: %v, want kind %q", name, err, kind)
		}
	}
	for name, f := range map[string]func(context.Context, string) error{
		"long content":    insert(func(r *vectorstore.Record) { r.Content = strings.Repeat("x", maxContentBytes+1) }),
		"long id":         insert(func(r *vectorstore.Record) { r.ID = strings.Repeat("x", 100) }),
		"bad UTF-8":       insert(func(r *vectorstore.Record) { r.Content = "\xff" }),
		"short vector":    insert(func(r *vectorstore.Record) { r.Embedding = r.Embedding[:3] }),
		"long vector":     insert(func(r *vectorstore.Record) { r.Embedding = make([]float32, 8) }),
		"NaN":             insert(func(r *vectorstore.Record) { r.Embedding[0] = float32(math.NaN()) }),
		"filter's syntax": search(`user_id == "`, plain.Dim, 3),
		"filter's field":  search(`nobody == "x"`, plain.Dim, 3),
		"filter's type":   search(`user_id > 3`, plain.Dim, 3),
		"searched vector": search("", 8, 3),
		"limit":           search("", plain.Dim, vectorstore.MaxLimit+1),
		"dimension of collection": func(ctx context.Context, name string) error {
			return s.client.CreateCollection(ctx, newSchema(name+"_x", vectorstore.Space{Dim: 1 << 20}), 1)
		},
		"query's syntax": func(ctx context.Context, collection string) error {
			_, err := s.client.Query(ctx, collection, nil, `id == "`, []string{fieldID}, bounded)
			return err
		},
		"delete's syntax": func(ctx context.Context, collection string) error {
			return s.client.Delete(ctx, collection, "", `id in ["`)
		},
	} {
		want(name, memory.KindInvalid, f)
	}

	if err := s.client.ReleaseCollection(t.Context(), s.options.Collection); err != nil {
		t.Fatal(err)
	}
	want("released", memory.KindUnavailable, search("", plain.Dim, 3))
	milvustest.Drop(t, s.options.Collection)
	want("dropped, search", memory.KindUnavailable, search("", plain.Dim, 3))
	want("dropped, insert", memory.KindUnavailable, insert(func(*vectorstore.Record) {}))
	if err := s.Ensure(t.Context()); err != nil { // so that the cleanup can drop it
		t.Fatal(err)
	}
}

// The test covers refusals that a healthy server does not send.
func TestKindOf_ClassifiesErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		kind memory.Kind
	}{
		{&refusal{code: 904, reason: "node not match"}, memory.KindUnavailable},
		{&refusal{code: 8, reason: "rate limit exceeded"}, memory.KindUnavailable},
		{&refusal{code: 1, reason: "service not ready"}, memory.KindUnavailable},
		{&refusal{code: codeUnexpected, reason: "fail to search on all shard leaders"}, memory.KindUnavailable},
		{&refusal{code: codeParameterMissing}, memory.KindInvalid},
		{
			status.Error(codes.ResourceExhausted, "grpc: received message larger than max (80160063 vs. 67108864)"),
			memory.KindInvalid,
		},
		{status.Error(codes.ResourceExhausted, "request is rejected by the rate limiter"), memory.KindUnavailable},
		{status.Error(codes.InvalidArgument, "no"), memory.KindInvalid},
		{status.Error(codes.Internal, "stream terminated"), memory.KindUnavailable},
		{context.DeadlineExceeded, memory.KindUnavailable},
		{errors.New("2 of 3 rows were written"), memory.KindUnavailable},
	} {
		if got := kindOf(c.err); got != c.kind {
			t.Errorf("%v: %q, want %q", c.err, got, c.kind)
		}
	}
}

// A record that the collection cannot hold makes its whole batch invalid; the
// projection then writes the others one by one.
func TestReplace_RefusesBatchWithBadRecord(t *testing.T) {
	t.Parallel()
	alias := milvustest.Collection(t)
	name := collectionName(alias, plain)
	c, err := client.NewClient(t.Context(), client.Config{Address: milvustest.Addr(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	narrow := newSchema(name, plain)
	for _, field := range narrow.Fields {
		if field.Name == fieldContent {
			field.WithMaxLength(16)
		}
	}
	if err := c.CreateCollection(t.Context(), narrow, 1, client.WithPartitionNum(milvustest.Partitions),
		client.WithCollectionProperty(propertyModel, plain.Model)); err != nil {
		t.Fatal(err)
	}
	s := openPlain(t, alias)
	good, bad := plainRecord(), plainRecord()
	bad.Content = strings.Repeat("x", 17)
	for _, records := range [][]vectorstore.Record{{good, bad}, {bad}} {
		if err := s.Replace(t.Context(), records); !memory.IsKind(err, memory.KindInvalid) {
			t.Errorf("%d records: %v, want an error of kind invalid", len(records), err)
		}
	}
	if err := s.Replace(t.Context(), []vectorstore.Record{good}); err != nil {
		t.Error(err)
	}
}

// The texts are answers of Milvus 2.3.5 to searches of a collection that was
// replaced during the search.
func TestIsGone_RecognisesReplacedCollection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&refusal{code: codeCollectionNotFound}, true},
		{&refusal{code: codeCollectionNotLoaded}, true},
		{&refusal{
			code: codeUnexpected, reason: "failed to search: collection not loaded[collection=470621555027234463]",
		}, true},
		{&refusal{code: codeUnexpected, reason: "failed to search/query delegator 1 for channel " +
			"by-dev-rootcoord-dml_9_470622057410999877v0: fail to Search, QueryNode ID=1, " +
			"reason=partition not loaded[partition=[470622057411000113]]"}, true},
		{&refusal{code: codeUnexpected, reason: "fail to Query, QueryNode ID = 10, " +
			"reason=delegator closed during wait tsafe: channel not available[channel=dml_0_470669819253503756v0]"}, true},
		{&refusal{code: codeUnexpected, reason: "fail to search on all shard leaders"}, false},
		{errors.New("partition not loaded"), false}, // not from Milvus
		{nil, false},
	} {
		if got := isGone(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}
