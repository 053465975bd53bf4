package jobs

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
)

// signal is a log writer that closes logged when it sees the message.
type signal struct {
	message string
	once    sync.Once
	logged  chan struct{}
}

func (s *signal) Write(line []byte) (int, error) {
	if strings.Contains(string(line), s.message) {
		s.once.Do(func() { close(s.logged) })
	}
	return len(line), nil
}

type testJob struct{}

func (testJob) Kind() string { return "test" }

// River itself gives up after ten seconds without an answer of the database.
func TestRunner_StartWaitsForASlowDatabase(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	records, err := postgres.Open(t.Context(), postgres.Options{URL: url, MaxConns: 6})
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	slow := optionsOf(records)
	gaveUp := &signal{message: "Error fetching initial queue settings", logged: make(chan struct{})}
	slow.Log = slog.New(slog.NewTextHandler(gaveUp, nil))
	if err := records.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := New(records.Driver(), slow, Handle(func(context.Context, testJob) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}

	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE river_queue IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	go func() { started <- r.Start(t.Context()) }()
	select {
	case <-gaveUp.logged:
	case err := <-started:
		t.Fatalf("Start did not wait for the lock: %v", err)
	}
	if _, err := conn.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
