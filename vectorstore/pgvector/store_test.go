package pgvector_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/pgvector"
	"hippocampus/vectorstore/vectortest"
)

var space = vectorstore.Space{Model: "test", Dim: vectortest.Dim}

// open opens a store and closes it at the end of the test.
func open(t testing.TB, options pgvector.Options) *pgvector.Store {
	t.Helper()
	options.Timeout = time.Minute // tolerates a busy machine
	s, err := pgvector.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore_Conformance(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]pgvector.Options{
		"comparison": {Exact: 10_000}, "index": {Exact: 0}, "without index": {Index: "FLAT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vectortest.Run(t, func(t *testing.T, space vectorstore.Space) vectorstore.Store {
				options.URL, options.Space = postgrestest.PgvectorURL(t), space
				return open(t, options)
			})
		})
	}
}

func TestRebuild_Conformance(t *testing.T) {
	t.Parallel()
	vectortest.Rebuild(t, open(t, pgvector.Options{URL: postgrestest.PgvectorURL(t), Space: space}))
}

func TestDeleteOwner_IncludesTablesBeingFilled(t *testing.T) {
	t.Parallel()
	vectortest.DeleteOwnerInRebuild(t, open(t, pgvector.Options{URL: postgrestest.PgvectorURL(t), Space: space}))
}

// Each space has its own table. The table remains when the store is closed; Drop drops it.
func TestOpen_SeparatesSpaces(t *testing.T) {
	t.Parallel()
	url := postgrestest.PgvectorURL(t)
	record := vectorstore.Record{
		ID: "1", Owner: memory.Owner{AppID: "a", UserID: "u"}, Content: "x", Embedding: []float32{0, 3, 4, 0},
	}
	query := vectorstore.Query{Owner: record.Owner, Embedding: []float32{0, 0.6, 0.8, 0}, Limit: 5}
	spaces := []vectorstore.Space{
		{Model: "text-embedding-v4", Dim: 4}, {Model: "text_embedding_v4", Dim: 4},
		{Model: "Text-Embedding-V4", Dim: 4}, {Model: "text-embedding-v4", Dim: 5},
	}
	first := open(t, pgvector.Options{URL: url, Space: spaces[0]})
	if err := first.Insert(t.Context(), []vectorstore.Record{record}); err != nil {
		t.Fatal(err)
	}
	for _, other := range spaces[1:] {
		s := open(t, pgvector.Options{URL: url, Space: other})
		q := query
		q.Embedding = append([]float32{1}, make([]float32, other.Dim-1)...)
		if hits, err := s.Search(t.Context(), q); err != nil || len(hits) != 0 || s.Losses() != 1 {
			t.Errorf("%v finds %v, %v", other, hits, err)
		}
	}
	again := open(t, pgvector.Options{URL: url, Space: spaces[0]})
	hits, err := again.Search(t.Context(), query)
	if err != nil || len(hits) != 1 || hits[0].ID != "1" || hits[0].Similarity < 0.999999 || again.Losses() != 0 {
		t.Errorf("opened again: %v, %v, %d losses", hits, err, again.Losses())
	}
	if err := again.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Search(t.Context(), query); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("searching a dropped table: %v, want an error of kind unavailable", err)
	}
	err = first.Ping(t.Context())
	if !memory.IsKind(err, memory.KindUnavailable) || !errors.Is(err, vectorstore.ErrGone) {
		t.Errorf("pinging it: %v, want ErrGone of kind unavailable", err)
	}
	if err := first.Ensure(t.Context()); err != nil || first.Losses() != 2 {
		t.Errorf("creating it again: %v, %d losses", err, first.Losses())
	}
}

// Vectors may be longer than an HNSW index supports, in full or half precision.
func TestSearch_SupportsLongVectors(t *testing.T) {
	t.Parallel()
	for _, dim := range []int{2000, 2001, 4000, 4001, 16000} {
		s := open(t, pgvector.Options{URL: postgrestest.PgvectorURL(t), Space: vectorstore.Space{Model: "long", Dim: dim}})
		o := memory.Owner{AppID: "a", UserID: "u"}
		var records []vectorstore.Record
		for i := range 3 { // their similarities to the first differ in the fifth digit
			v := make([]float32, dim)
			v[0], v[dim-1] = 1, float32(i)*0.01
			records = append(records, vectorstore.Record{
				ID: string(rune('a' + i)), Owner: o, Content: strings.Repeat("记", memory.MaxContentRunes), Embedding: v,
			})
		}
		if err := s.Insert(t.Context(), records); err != nil {
			t.Fatalf("%d numbers: %v", dim, err)
		}
		hits, err := s.Search(t.Context(), vectorstore.Query{Owner: o, Embedding: records[0].Embedding, Limit: 3})
		if err != nil || len(hits) != 3 || hits[0].ID != "a" || hits[1].ID != "b" || hits[2].ID != "c" ||
			hits[1].Similarity > 0.99996 || hits[1].Similarity < 0.99994 {
			t.Errorf("%d numbers: %v, %v", dim, hits, err)
		}
	}
}

// Open creates a missing extension, in a schema that outlives the one of the
// installation, if its role may. Otherwise the error says what to do.
func TestOpen_CreatesExtension(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	name, allowed, restricted := ownDatabase(t)
	_, err := pgvector.Open(ctx, pgvector.Options{URL: restricted, Space: space})
	remedy := "have a superuser run CREATE EXTENSION vector"
	if !memory.IsKind(err, memory.KindUnavailable) || !strings.Contains(err.Error(), remedy) {
		t.Errorf("without the right to create it: %v", err)
	}
	schema := pgx.Identifier{name}.Sanitize()
	conn, err := pgx.Connect(ctx, allowed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, `CREATE SCHEMA `+schema); err != nil {
		t.Fatal(err)
	}
	open(t, pgvector.Options{URL: allowed + "&search_path=" + name, Space: space})
	if _, err := conn.Exec(ctx, `DROP SCHEMA `+schema+` CASCADE`); err != nil {
		t.Fatal(err)
	}
	conn.Close(ctx)
	open(t, pgvector.Options{URL: restricted, Space: space}) // the extension exists now, for every role
}

// ownDatabase creates a database without the extension. It returns the name and two
// URLs: of a superuser, and of the database's owner, who may not create the extension.
func ownDatabase(t *testing.T) (name, allowed, restricted string) {
	t.Helper()
	ctx := t.Context()
	server, err := pgx.Connect(ctx, os.Getenv(postgrestest.PgvectorEnv))
	if err != nil {
		t.Fatal(err)
	}
	name = "test_" + strings.ReplaceAll(memory.NewID(), "-", "")
	run := func(ctx context.Context, statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := server.Exec(ctx, statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
	}
	run(ctx, `CREATE DATABASE `+name, `CREATE ROLE `+name+` LOGIN`, `ALTER DATABASE `+name+` OWNER TO `+name)
	t.Cleanup(func() {
		ctx := context.Background()
		run(ctx, `DROP DATABASE `+name+` WITH (FORCE)`, `DROP ROLE `+name)
		server.Close(ctx)
	})
	u, err := url.Parse(os.Getenv(postgrestest.PgvectorEnv))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = name
	allowed = u.String()
	u.User = url.User(name)
	return name, allowed, u.String()
}

func TestOpen_RefusesWrongOptions(t *testing.T) {
	t.Parallel()
	url := postgrestest.PgvectorURL(t)
	for want, options := range map[string]pgvector.Options{
		"no dimension":     {URL: url, Space: vectorstore.Space{Model: "m"}},
		"at most 16000":    {URL: url, Space: vectorstore.Space{Model: "m", Dim: 16001}},
		"choose HNSW":      {URL: url, Space: space, Index: "IVF"},
		"cannot be read":   {URL: "postgres://u:secret@h:x/d", Space: space},
		"CREATE EXTENSION": {URL: postgrestest.URL(t), Space: space}, // a server without the extension
		"is unavailable":   {URL: "postgres://u:secret@127.0.0.1:1/d", Space: space},
	} {
		_, err := pgvector.Open(t.Context(), options)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
