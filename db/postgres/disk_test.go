package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

// Reads still work when the disk is full.
func TestPing_ReportsAFullDisk(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := open(t, url)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION refuse()`); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateKey(t.Context(), memory.Key{ID: memory.NewID()}); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("a change on a full disk: %v", err)
	}
	if err := s.Ping(t.Context()); memory.ReasonOf(err) != memory.ReasonDiskFull {
		t.Errorf("got %v, want an error with the reason of the full disk", err)
	}
}
