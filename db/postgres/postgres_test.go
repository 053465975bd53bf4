package postgres_test

import (
	"testing"

	"hippocampus/db"
	"hippocampus/db/dbtest"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
)

func TestStore_Conformance(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewPool(t, func(url string) { open(t, url) })
	dbtest.Run(t, func(t *testing.T) db.Store { return open(t, pool.URL(t)) })
}

// open opens and migrates a store that is closed when the test ends.
func open(t *testing.T, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Options{URL: url, MaxConns: 6})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}
