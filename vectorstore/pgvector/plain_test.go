package pgvector_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/pgvector"
	"hippocampus/vectorstore/vectortest"
)

// openPlain opens a store on a server without the extension.
func openPlain(t testing.TB, space vectorstore.Space) *pgvector.Store {
	t.Helper()
	s := open(t, pgvector.Options{URL: postgrestest.URL(t), Space: space, Plain: true})
	if !s.Plain() {
		t.Fatal("the server has the extension vector: this test shows nothing")
	}
	return s
}

func TestPlain_Conformance(t *testing.T) {
	t.Parallel()
	vectortest.Run(t, func(t *testing.T, space vectorstore.Space) vectorstore.Store { return openPlain(t, space) })
}

func TestPlain_RebuildConformance(t *testing.T) {
	t.Parallel()
	vectortest.Rebuild(t, openPlain(t, space))
}

func TestPlain_DeleteOwnerIncludesTablesBeingFilled(t *testing.T) {
	t.Parallel()
	vectortest.DeleteOwnerInRebuild(t, openPlain(t, space))
}

// A server that started before the extension was installed, and one that started
// afterwards, share one table. A rebuild by the second one makes it a table of
// vectors, and both keep reading and writing it.
func TestPlain_RebuildChangesToVectors(t *testing.T) {
	t.Parallel()
	_, allowed, restricted := ownDatabase(t)
	options := pgvector.Options{URL: restricted, Space: vectorstore.Space{Model: "bench", Dim: benchDim}, Plain: true}
	conn, err := pgx.Connect(t.Context(), allowed)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	run := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	run(`GRANT ALL ON SCHEMA public TO PUBLIC`) // it belongs to the superuser
	before := open(t, options)
	dice := rand.New(rand.NewPCG(1, 2))
	var all []vectorstore.Record
	write := func(s *pgvector.Store, n int) {
		t.Helper()
		for range n {
			r := benchRecord(dice, "user")
			all = append(all, r)
			if err := s.Insert(t.Context(), []vectorstore.Record{r}); err != nil {
				t.Fatal(err)
			}
		}
	}
	like := benchRecord(dice, "user")
	query := vectorstore.Query{Owner: like.Owner, Embedding: like.Embedding, Limit: 100}
	sameHits := func(stores ...*pgvector.Store) {
		t.Helper()
		var first []vectorstore.Hit
		for i, s := range stores {
			hits, err := s.Search(t.Context(), query)
			if err != nil || len(hits) != len(all) {
				t.Fatalf("store %d: %d of %d, %v", i, len(hits), len(all), err)
			}
			if i == 0 {
				first = hits
			}
			for j := range hits {
				if hits[j].ID != first[j].ID || math.Abs(hits[j].Similarity-first[j].Similarity) > 1e-6 {
					t.Errorf("store %d, hit %d: %v instead of %v", i, j, hits[j], first[j])
				}
			}
		}
	}
	write(before, 5)
	run(`CREATE EXTENSION vector SCHEMA public`)
	after := open(t, options)
	if !before.Plain() || !after.Plain() || after.Losses() != 0 {
		t.Fatalf("plain: %v, %v; %d losses", before.Plain(), after.Plain(), after.Losses())
	}
	write(after, 5)
	sameHits(before, after)

	err = after.Rebuild(t.Context(), func(ctx context.Context, into vectorstore.Writer) error {
		return into.Insert(ctx, all)
	})
	if err != nil || after.Plain() {
		t.Fatalf("rebuilding: %v, plain: %v", err, after.Plain())
	}
	write(before, 5)
	write(after, 5)
	last := open(t, options)
	if last.Plain() {
		t.Error("the rebuilt table has no vectors")
	}
	sameHits(before, after, last)
}
