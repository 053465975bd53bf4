package postgres_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
)

func TestOpen_NamesHostAndPortButNoPassword(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close() // so that no server listens there
	for url, want := range map[string]struct {
		kind memory.Kind
		text string
	}{
		"postgres://user:hunter2@" + address + "/database":           {memory.KindUnavailable, address},
		"postgres://user:hunter2@" + address + "," + address + "/x":  {memory.KindUnavailable, address},
		"postgres://user:hunter2@no-such-host.invalid:5432/database": {memory.KindUnavailable, "no-such-host.invalid:5432"},
		"postgres://user:hunter2@127.0.0.1:port/database": {memory.KindInvalid,
			"postgres://USER:PASSWORD@HOST:PORT/DATABASE"},
		"postgres://user:hunter2%zz@127.0.0.1:1/database":              {memory.KindInvalid, "database URL"},
		"postgres://user:hunter2@127.0.0.1:1/database?sslmode=perhaps": {memory.KindInvalid, "database URL"},
	} {
		_, err := postgres.Open(t.Context(), postgres.Options{URL: url})
		if !memory.IsKind(err, want.kind) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: got %v, want an error of kind %s that says %s", url, err, want.kind, want.text)
		} else if text := err.Error(); strings.Contains(text, "hunter2") || strings.Contains(text, "\n") {
			t.Errorf("the error tells the password or has several lines: %s", text)
		}
	}
}

func TestOpen_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = postgres.Open(ctx,
		postgres.Options{URL: "postgres://user@" + silent.Addr().String() + "/database?sslmode=disable"})
	if !memory.IsKind(err, memory.KindUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want an error of kind unavailable caused by the deadline", err)
	}
}

func TestPing_RequiresThisVersion(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s, err := postgres.Open(t.Context(), postgres.Options{URL: url, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wantPing := func(want string) {
		t.Helper()
		err := s.Ping(t.Context())
		if !memory.IsKind(err, memory.KindUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error of kind unavailable that says %q", err, want)
		}
	}
	wantPing("hippocampus migrate")
	if err := s.Migrate(t.Context()); err != nil { // one connection is enough
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, step := range []struct{ sql, want string }{
		{`DELETE FROM river_migration WHERE version = (SELECT max(version) FROM river_migration)`, "older version"},
		{`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`, "newer version"},
	} {
		if _, err := conn.Exec(t.Context(), step.sql); err != nil {
			t.Fatal(err)
		}
		wantPing(step.want)
	}
}

func TestMigrate_RunsFromSeveralProcesses(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			s, err := postgres.Open(t.Context(), postgres.Options{URL: url, MaxConns: 2})
			if err != nil {
				return err
			}
			defer s.Close()
			return errors.Join(s.Migrate(t.Context()), s.Ping(t.Context()))
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// A text that Postgres cannot hold is the client's error.
func TestStore_RefusesInvalidTexts(t *testing.T) {
	t.Parallel()
	s := open(t, postgrestest.URL(t))
	for _, bad := range []string{"a\x00b", "cut \xe8\x8c"} {
		if _, err := s.Turn(t.Context(), bad, bad); !memory.IsKind(err, memory.KindInvalid) {
			t.Errorf("%q: got %v, want an error of kind invalid", bad, err)
		}
		owner := memory.Owner{AppID: "app", UserID: "user"}
		err := s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.Insert(ctx, []memory.Memory{{
				ID: memory.NewID(), Owner: owner, Content: bad, Type: memory.TypeFact, Domain: memory.GeneralChat,
				Status: memory.Active, Revision: 1,
			}}, time.Time{})
		})
		if !memory.IsKind(err, memory.KindInvalid) {
			t.Errorf("%q: got %v, want an error of kind invalid", bad, err)
		}
	}
}

func TestStore_ReconnectsAfterTheServerEndsConnections(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	open(t, url)
	killer, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer killer.Close(t.Context())
	owner := memory.Owner{AppID: "app", UserID: "user"}
	named, err := postgres.Open(t.Context(), postgres.Options{URL: url + "&application_name=" + t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	err = named.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		if _, err := killer.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1`,
			t.Name()); err != nil {
			return err
		}
		_, err := tx.Memories(ctx, []string{memory.NewID()})
		return err
	})
	if !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("got %v, want an error of kind unavailable", err)
	}
	if err := named.InUser(t.Context(), owner, func(context.Context, db.UserTx) error { return nil }); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A table that is there before the first migration is not the program's own.
func TestMigrate_RefusesTablesOfUnsupportedVersions(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s, err := postgres.Open(t.Context(), postgres.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `CREATE TABLE turns (id text)`); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := s.Migrate(t.Context())
		if !memory.IsKind(err, memory.KindConflict) || !strings.Contains(err.Error(), "no supported version") {
			t.Errorf("got %v, want a refusal that names the reason", err)
		}
	}
}
