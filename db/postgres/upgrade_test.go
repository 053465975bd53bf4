package postgres

import (
	"testing"
	"time"

	"github.com/riverqueue/river/rivermigrate"

	"hippocampus/db/dbtest"
	"hippocampus/db/postgres/postgrestest"
)

// TestUpgrade migrates a database that holds candidates of the first schema.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{URL: postgrestest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	first, done, err := s.tables()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if _, err := first.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	queue, err := s.queue()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
		t.Fatal(err)
	}
	dbtest.Upgrade(t, s, func(id, appID, turnID string, at time.Time) error {
		_, err := s.pool.Exec(t.Context(), `INSERT INTO candidates
			(id, app_id, turn_id, content, importance, domain, type, verdict, reason, scorer, created_at)
			VALUES ($1, $2, $3, 'likes tea', 0.5, 'general_chat', 'fact', 'below_threshold', '', 'rules', $4)`, id, appID, turnID, at)
		return err
	})
}
