package pgvector_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/pgvector"
)

// The load of the benchmark: many ordinary users whose writes interleave, then
// two large users.
const (
	benchDim   = 512
	benchUsers = 50
	benchEach  = 100
	benchTop   = 200 // the limit of recall's searches
)

// BenchmarkIndex compares tables with and without an HNSW index, and without the
// extension: the time to write one record, and to search for ordinary and large
// users. With an index and Exact 10,000, only searches for the largest user use the
// index.
//
//	go test -run - -bench Index -benchtime 40x ./vectorstore/pgvector
func BenchmarkIndex(b *testing.B) {
	for _, kind := range []string{"FLAT", "HNSW", "plain"} {
		b.Run(kind, func(b *testing.B) {
			options := pgvector.Options{Space: vectorstore.Space{Model: "bench", Dim: benchDim}, Index: kind, Exact: 10_000}
			options.URL = postgrestest.PgvectorURL(b)
			if kind == "plain" {
				options.URL = postgrestest.URL(b)
				options.Index = "FLAT"
				options.Plain = true
			}
			s := open(b, options)
			dice := rand.New(rand.NewPCG(1, 2))
			put := func(users []string) {
				records := make([]vectorstore.Record, len(users))
				for i, user := range users {
					records[i] = benchRecord(dice, user)
				}
				if err := s.Insert(b.Context(), records); err != nil {
					b.Fatal(err)
				}
			}
			everybody := make([]string, benchUsers)
			for i := range everybody {
				everybody[i] = fmt.Sprint("user", i)
			}
			for range benchEach {
				put(everybody)
			}
			put(slices.Repeat([]string{"1000"}, 1000))
			put(slices.Repeat([]string{"10000"}, 10_000))
			put(slices.Repeat([]string{"12000"}, 12_000))
			b.Run("write", func(b *testing.B) {
				for b.Loop() {
					put([]string{"user7"})
				}
			})
			for _, user := range []string{"user9", "1000", "10000", "12000"} {
				b.Run("search of "+user, func(b *testing.B) {
					for b.Loop() {
						r := benchRecord(dice, user)
						hits, err := s.Search(b.Context(), vectorstore.Query{Owner: r.Owner, Embedding: r.Embedding, Limit: benchTop})
						if err != nil || len(hits) < benchEach {
							b.Fatal(len(hits), err)
						}
					}
				})
			}
		})
	}
}

// benchRecord is a record of a user with a random vector.
func benchRecord(dice *rand.Rand, user string) vectorstore.Record {
	v, square := make([]float32, benchDim), 0.0
	for i := range v {
		x := dice.NormFloat64()
		v[i], square = float32(x), square+x*x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return vectorstore.Record{
		ID: memory.NewID(), Owner: memory.Owner{AppID: "app", UserID: user},
		Domain: memory.Preferences, Type: memory.TypeFact,
		Content: "The user likes a cup of green tea in the morning, before work.", Embedding: v,
	}
}
