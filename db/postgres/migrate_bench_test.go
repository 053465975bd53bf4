package postgres_test

import (
	"errors"
	"testing"

	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
)

// BenchmarkMigrate_NewSchema makes the tables of this version in an empty schema, as the first start of a server does.
func BenchmarkMigrate_NewSchema(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		url := postgrestest.URL(b)
		b.StartTimer()
		s, err := postgres.Open(b.Context(), postgres.Options{URL: url})
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(s.Migrate(b.Context()), s.Close()); err != nil {
			b.Fatal(err)
		}
	}
}
